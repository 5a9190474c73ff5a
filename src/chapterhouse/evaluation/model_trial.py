"""What a language model can do here: tried out on a document of three lines.

The question goes the way of every question, in a library made for it, so what works there works
with a user's documents as far as the model is concerned.
"""

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from chapterhouse.concurrency import run_sync
from chapterhouse.errors import EngineError
from chapterhouse.library import Library
from chapterhouse.models.discovery import server_of_model
from chapterhouse.models.opening import open_language_model
from chapterhouse.models.question_rewriting import rewrite
from chapterhouse.models.servers import is_loopback
from chapterhouse.ports.models import LanguageModel
from chapterhouse.settings import (
    AnswerSettings,
    EmbeddingSettings,
    ExpansionSettings,
    LanguageModelSettings,
    MemorySettings,
    Settings,
)
from chapterhouse.types import Answer, OutputFormat, Tool, Writing
from chapterhouse.wiring import make_home, open_runtime

QUESTION: Final = "When does the ferry to Osk leave, and from which pier?"
_DOCUMENT: Final = """\
# Harbour notes

The ferry to Osk leaves at 07:40 from pier 3.

The crane on the north quay lifts 12 tonnes.

The café opens at nine on Sundays.
"""
_LINE: Final = "The ferry to Osk leaves at 07:40 from pier 3."
_TOOL_PROMPT: Final = "What is the code of pier 3? Look it up with the tool, and say the code."
_CODE: Final = "K417"
_FORM: Final = OutputFormat(
    "departure",
    {
        "type": "object",
        "properties": {"time": {"type": "string"}, "pier": {"type": "integer"}},
        "required": ["time", "pier"],
        "additionalProperties": False,
    },
)
_FORM_INSTRUCTIONS: Final = (
    'Answer with one JSON object and nothing else: {"time": "HH:MM", "pier": NUMBER}.'
)
_COUNTING: Final = "Write the numbers from 1 to 40 in digits, with a comma between them."
_LATER: Final = 1.5  # so many times as late is one after the other
_AROUND: Final = 900  # tokens of instructions and headings around the excerpts of a question


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was tried, or that follows from it."""

    name: str
    passed: bool
    sentence: str


@dataclass(frozen=True, slots=True)
class Trial:
    """What came of it.

    Attributes:
        answer: To the question of the three lines.
        found: What was tried.
        works: What will work with it.
        context_size: Tokens that it takes as it is served; 0 where nobody says.
        slots: Requests that its server works on at once; 0 where that is not known.
        tokens_per_second: Written, with all that is around it; 0 where tokens are not counted.
    """

    model: str
    answer: Answer
    found: tuple[Finding, ...]
    works: tuple[Finding, ...]
    context_size: int
    slots: int
    tokens_per_second: float


@dataclass(slots=True)
class _Meter:
    """How many tokens were written, and how long that took."""

    tokens: int = 0
    seconds: float = 0.0

    def add(self, tokens: int, seconds: float) -> None:
        self.tokens += tokens
        self.seconds += seconds

    @property
    def speed(self) -> float:
        return self.tokens / self.seconds if self.seconds else 0.0


def try_model(
    chosen: LanguageModelSettings,
    library: Settings,
    folder: Path,
    report: Callable[[str], None] = lambda _: None,
) -> Trial:
    """Try a language model out.

    Args:
        chosen: The model.
        library: The settings of the library that it is for: how long prompts become.
        folder: A folder in which a library is made for it, and deleted in the end.
        report: Is told what is being tried.

    Raises:
        EngineError: the model cannot be reached, or does not write at all.
        UsageError: its key would travel unencrypted.
    """
    alone = chosen.model_copy(update={"calls_at_once": 0})
    model = open_language_model(alone)
    if model is None:
        raise EngineError("No language model is chosen.", hint="Choose one: chapterhouse model use")
    meter = _Meter()
    report("waiting for its first word, which may be loaded first")
    model.complete("", "Say: ready")
    report("asking a question of a document of three lines")
    answer = _ask(alone, folder, meter)
    report("letting it call a tool")
    tool = _tool(model, meter)
    report("wanting an answer in a form")
    form = _form(model, meter)
    report("letting it rewrite a question")
    rewriting = _rewriting(model)
    server = server_of_model(chosen) if is_loopback(chosen.base_url) else None
    served = server.model(chosen.model) if server else None
    slots = server.slots if server else 0
    if not slots and is_loopback(chosen.base_url):
        report("asking it two things at once")
        slots = _slots(model)
    cited = _citation(answer, model.fingerprint)
    size = chosen.context_size or (served.context if served else 0)
    needed = library.packing.maximum + _AROUND + chosen.maximum_tokens
    context = _context(size, needed, served.longest if served else 0, chosen.engine)
    found = (cited, form, tool, rewriting, context)
    works = _works(cited, form, tool, rewriting, slots)
    return Trial(model.fingerprint, answer, found, works, size, slots, round(meter.speed, 1))


def _ask(chosen: LanguageModelSettings, folder: Path, meter: _Meter) -> Answer:
    """Ask the question of the three lines, in a library of its own."""
    settings = Settings(
        language_model=chosen,
        embedding=EmbeddingSettings(engine="static", background=False),
        expansion=ExpansionSettings(rewrite="never"),
        answer=AnswerSettings(cache=False),
        memory=MemorySettings(enabled=False),
    )
    with TemporaryDirectory(prefix=".model-test-", dir=folder) as place:
        home = Path(place)
        own = home / "workspaces" / "default"
        make_home(home, own)
        document = home / "harbour-notes.md"
        document.write_text(_DOCUMENT, "utf-8")
        with Library(open_runtime(home, "default", settings)) as library:
            library.documents.add(document)
            began = time.monotonic()
            answer = library.answers.ask(QUESTION)
    written = answer.usage.completion_tokens if answer.usage else 0
    meter.add(written, time.monotonic() - began)
    return answer


def _citation(answer: Answer, fingerprint: str) -> Finding:
    """Say whether the model answered, and from the right line."""
    name = "citation"
    if answer.method != fingerprint:  # the documents are quoted instead
        why = [*answer.warnings, answer.notice, "it was not asked"]
        return Finding(name, passed=False, sentence=f"It gave no answer: {next(filter(None, why))}")
    right = any(_LINE in citation.quote or citation.quote in _LINE for citation in answer.citations)
    has_answer = answer.found
    if has_answer and right and "7:40" in answer.text:
        return Finding(name, passed=True, sentence="It answered and cited the right line.")
    what = "cited no line that carries it" if answer.text else "found no answer"
    return Finding(name, passed=False, sentence=f"It wrote something, and {what}.")


def _write(
    model: LanguageModel,
    meter: _Meter,
    instructions: str,
    prompt: str,
    *,
    tools: Sequence[Tool] = (),
    output: OutputFormat | None = None,
) -> Writing | EngineError:
    began = time.monotonic()
    try:
        writing = run_sync(model.write(instructions, prompt, tools=tools, output=output))
    except EngineError as error:
        return error
    meter.add(writing.usage.completion_tokens, time.monotonic() - began)
    return writing


def _tool(model: LanguageModel, meter: _Meter) -> Finding:
    tool = Tool(
        "pier_code",
        "Gives the code of a pier.",
        {"type": "object", "properties": {"pier": {"type": "integer"}}, "required": ["pier"]},
        lambda _: f"The code is {_CODE}.",
    )
    writing = _write(model, meter, "", _TOOL_PROMPT, tools=(tool,))
    if isinstance(writing, EngineError):
        return Finding("tools", passed=False, sentence=f"Its service refuses: {writing.message}")
    if not writing.tool_calls:
        return Finding("tools", passed=False, sentence="It did not call the tool it was given.")
    if _CODE not in writing.text:
        return Finding("tools", passed=False, sentence="It called the tool and ignored the result.")
    return Finding("tools", passed=True, sentence="It called a tool and used the result.")


def _form(model: LanguageModel, meter: _Meter) -> Finding:
    writing = _write(model, meter, _FORM_INSTRUCTIONS, _LINE, output=_FORM)
    if isinstance(writing, EngineError):
        return Finding("form", passed=False, sentence=f"It gave nothing: {writing.message}")
    try:
        data = json.loads(writing.text)
    except (ValueError, RecursionError):
        return Finding("form", passed=False, sentence="It did not answer with the JSON asked for.")
    right = isinstance(data, dict) and data.get("pier") == 3 and "7:40" in str(data.get("time"))  # noqa: PLR2004 - of the line
    sentence = "It answered in the form asked for." if right else "Its JSON says something else."
    return Finding("form", passed=right, sentence=sentence)


def _rewriting(model: LanguageModel) -> Finding:
    try:
        terms = rewrite(model, QUESTION).terms
    except EngineError as error:
        return Finding("rewriting", passed=False, sentence=f"It gave nothing: {error.message}")
    if not terms:
        return Finding("rewriting", passed=False, sentence="It gave no other words for a question.")
    shown = ", ".join(terms[:3])
    return Finding("rewriting", passed=True, sentence=f"Other words it gave: {shown}.")


def _slots(model: LanguageModel) -> int:
    """Return 1 where a server works on one request after the other, 0 where it seems not to.

    Of two requests that come together, one of a single slot begins when the other has ended.
    """

    async def timed() -> tuple[float, float]:
        moments: list[float] = []
        await model.write("", _COUNTING, on_text=lambda _: moments.append(time.monotonic()))
        return moments[0], moments[-1]

    async def both() -> Sequence[tuple[float, float]]:
        return sorted(await asyncio.gather(timed(), timed()))

    began = time.monotonic()
    try:
        (_, first_end), (second_start, second_end) = run_sync(both())
    except (EngineError, IndexError):  # it may refuse the second, or write nothing
        return 0
    apart = second_start >= first_end
    return 1 if apart and second_end - began >= _LATER * (first_end - began) else 0


def _context(size: int, needed: int, longest: int, engine: str) -> Finding:
    name = "context"
    if not size:
        sentence = f"Its server does not say how long a prompt may be; about {needed:,} are needed."
        return Finding(name, passed=True, sentence=sentence)
    could = f" of {longest:,}" if longest > size else ""
    if size >= needed:
        return Finding(name, passed=True, sentence=f"It takes {size:,}{could} tokens.")
    more = {
        "ollama": "OLLAMA_CONTEXT_LENGTH=16384 ollama serve",
        "llamacpp": "llama-server -c 16384, which its slots share",
        "vllm": "vllm serve --max-model-len 16384",
        "lmstudio": "the context length in the model's settings of LM Studio",
    }.get(engine, "in the settings of its server")
    sentence = f"It takes {size:,}{could} tokens, a full prompt with its answer is {needed:,}."
    return Finding(name, passed=False, sentence=f"{sentence} Give it more: {more}.")


def _works(
    cited: Finding, form: Finding, tool: Finding, rewriting: Finding, slots: int
) -> tuple[Finding, ...]:
    """Say what will work, a line each."""
    asking = "yes, with citations" if cited.passed else "not well: expect quotations instead"
    tools = (
        "yes: personas and members may look things up themselves"
        if tool.passed
        else "no: leave grounding at “inject”"
    )
    rewrites = "yes" if rewriting.passed else "no: choose another model for it, with --rewriting"
    structured_output = "yes" if form.passed else "with prose, which is read as well as it can be"
    at_once = {0: "as many calls at once as there are members", 1: "one call at a time"}
    parallel_calls = at_once.get(slots, f"{slots} calls at once")
    return (
        Finding("asking", cited.passed, asking),
        Finding("tools", tool.passed, tools),
        Finding("rewriting", rewriting.passed, rewrites),
        Finding("councils", form.passed, f"{structured_output}, {parallel_calls}"),
    )
