"""A model writes; what it wrote is shown as it is, with its sources beside it."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from chapterhouse.answering.check_written import (
    INSTRUCTIONS,
    OUTPUT,
    CheckedText,
    add_opinions,
    check,
    check_draft,
    read_opinions,
    statements,
)
from chapterhouse.answering.cite import Lookup
from chapterhouse.answering.evidence_buffer import EvidenceBuffer, excerpts_of
from chapterhouse.answering.prompt import context_blocks, instructions, user_message
from chapterhouse.answering.request import OnDraft, Request, ToolCallsWanted
from chapterhouse.answering.route import deferral
from chapterhouse.answering.runtime import Runtime
from chapterhouse.answering.search import lookup_in
from chapterhouse.errors import EngineError, PromptTooLongError
from chapterhouse.text.counting import estimate_tokens
from chapterhouse.types import (
    EXTRACTIVE,
    QUOTED,
    Answer,
    AnswerOutcome,
    AnswerSentence,
    Attachment,
    Draft,
    Memory,
    Route,
    SearchResult,
    Tool,
    Writing,
)
from chapterhouse.types.engines import LanguageModel

_GENERAL: Final = (
    "You are a general assistant. You have no documents; say what you are not sure of. "
    "Answer briefly, in the language of the question, and cite nothing."
)
NOTHING_CITED: Final = "The model names no source; the passages that come closest stand below."
OF_IMAGES: Final = "The model says this of the images, and cites no document."
NO_ANSWER: Final = "The model gave no answer; these are quotations."
_NO_SECOND_OPINION: Final = "The model was not asked about its sentences:"
_LEAST: Final = 50  # tokens of text, below which no excerpt is worth a call
_SPARE: Final = 0.9  # of what seems to fit: tokens are estimated
_CUT: Final = (
    "The model was cut off at its longest answer (language_model.maximum_tokens): "
    "more would follow."
)


OnText = Callable[[str], None]
_PAUSE: Final = 9  # times as long as the last draft took, before the next: a tenth of the time


def drafts(on_draft: OnDraft | None, draft: Callable[[str], Draft]) -> OnText | None:
    """Return a receiver of pieces of text that passes on drafts of all that came so far.

    Not each piece makes one: a long text is checked again and again, and whoever writes it must
    not wait for that. None where nobody wants them.
    """
    if on_draft is None:
        return None
    text, rested = "", 0.0

    def receive(piece: str) -> None:
        nonlocal text, rested
        text += piece
        began = time.monotonic()
        if began >= rested:
            on_draft(draft(text))
            ended = time.monotonic()
            rested = ended + _PAUSE * (ended - began)

    return receive


@dataclass(frozen=True, slots=True)
class WrittenAnswer:
    """What a model wrote, every sentence with its sources, and what to know of the writing."""

    writing: Writing
    checked: CheckedText
    warnings: tuple[str, ...] = ()


async def write(
    request: Request,
    found: SearchResult,
    prompt: "Prompt",
    model: LanguageModel,
    runtime: Runtime,
    on_draft: OnDraft | None,
) -> WrittenAnswer:
    """Let a model write, and check what it wrote.

    Raises:
        EngineError: the model cannot be reached or wrote nothing.
        ToolCallsWanted: it wants tools of the asker's program called first.
    """
    store, scope = prompt.evidence.with_texts(runtime).store, request.scope
    look = lookup_in(store, scope)
    known = "\n".join((request.question, runtime.today(), *(one.answer for one in prompt.recalled)))

    def draft(text: str) -> Draft:
        return check_draft(text, prompt.evidence.given(), look, known)

    try:
        writing = await prompt.write(model, drafts(on_draft, draft))
    except PromptTooLongError as error:  # once more, with what fits
        smaller = replace(request, max_tokens=prompt.budget(error.fits))
        if smaller.max_tokens < _LEAST:
            raise
        prompt = prompt_for(smaller, found, runtime, prompt.recalled)
        writing = await prompt.write(model, drafts(on_draft, draft))
    if writing.wanted:
        raise ToolCallsWanted(writing.wanted, writing.usage)
    checked = check(writing.text, prompt.evidence.given(), look, known)
    warnings = (_CUT,) if writing.cut else ()
    if request.settings.answer.check == "model":
        try:
            checked = await _ask_again(checked, prompt, model, look)
        except EngineError as error:
            warnings = (*warnings, f"{_NO_SECOND_OPINION} {error.message}")
    return WrittenAnswer(writing, checked, warnings)


async def _ask_again(
    checked: CheckedText, prompt: "Prompt", model: LanguageModel, look: Lookup
) -> CheckedText:
    """Ask the model once more what the sources say about each sentence; raises as ``write``."""
    asked = tuple(dict.fromkeys(one.text for one in checked.sentences))
    blocks = prompt.evidence.blocks()
    if not asked or not blocks:
        return checked
    message = f"{context_blocks(blocks, prompt.evidence.nonce)}\n{statements(asked)}"
    writing = await model.write(INSTRUCTIONS, message, output=OUTPUT)
    passages = [one.evidence for one in prompt.evidence.given()]
    opinions = read_opinions(writing.text, asked)
    return add_opinions(checked, opinions, writing.model, passages, look)


@dataclass(frozen=True, slots=True)
class Prompt:
    """All that a model is given for an answer."""

    evidence: EvidenceBuffer
    instructions: str
    message: str
    tools: tuple[Tool, ...]
    recalled: tuple[Memory, ...]
    images: tuple[Attachment, ...] = ()

    async def write(self, model: LanguageModel, on_text: OnText | None) -> Writing:
        """Return what the model writes."""
        return await model.write(
            self.instructions,
            self.message,
            tools=self.tools,
            on_text=on_text,
            images=self.images,
        )

    def budget(self, fits: float) -> int:
        """Return how many tokens of text may lie before the model where so much of it fits."""
        sources = sum(estimate_tokens(block.excerpt.text) for block in self.evidence.blocks())
        whole = max(estimate_tokens(f"{self.instructions}\n{self.message}"), sources)
        return min(int(_SPARE * (fits * whole - (whole - sources))), sources - 1)


def prompt_for(
    request: Request, found: SearchResult, runtime: Runtime, recalled: Sequence[Memory]
) -> Prompt:
    """Return what a model is given."""
    evidence = EvidenceBuffer(request, runtime)
    blocks = (
        evidence.add(excerpts_of(request, found, runtime)) if request.grounding != "tool" else ()
    )
    blocks = (*blocks, *evidence.add_texts(request.tool_texts))
    tools = (evidence.tool(),) if request.grounding != "inject" else ()
    return Prompt(
        evidence,
        instructions(
            request.persona,
            words=request.form.words,
            today=runtime.today(),
            tools=bool(tools),
            external=bool(request.tools),
            images=bool(request.images),
        ),
        user_message(request.question, blocks, evidence.nonce, recalled),
        (*tools, *request.tools),
        tuple(recalled),
        request.images,
    )


async def general(
    request: Request, quoted: Answer, model: LanguageModel, on_draft: OnDraft | None
) -> Answer:
    """Return what a model says of itself to a question that is not for the persona."""
    assert request.persona is not None
    look = Lookup(lambda _: None, lambda _: None)
    on_text = drafts(on_draft, lambda text: check_draft(text, (), look))
    writing = await model.write(_GENERAL, request.question, on_text=on_text)
    checked = check(writing.text, (), look)
    return replace(
        quoted,
        sentences=checked.sentences,
        route=Route.GENERAL,
        notice=deferral(request.persona, "the general assistant"),
        method=writing.model,
        usage=writing.usage,
        rejected=checked.rejected,
    )


def combine(quoted: Answer, written: WrittenAnswer, *, saw_images: bool = False) -> Answer:
    """Put what a model wrote before the quotations; all that it wrote is shown.

    The quotations stay below where it names no source, and alone where it wrote no sentence. Where
    it saw images, it need name no source.
    """
    checked, writing = written.checked, written.writing
    warnings = (*quoted.warnings, *written.warnings)
    quoted = replace(quoted, usage=writing.usage, warnings=warnings, rejected=checked.rejected)
    if not checked.sentences:
        return replace(quoted, method=EXTRACTIVE, notice=NO_ANSWER)
    answer = replace(
        quoted,
        method=writing.model,
        outcome=AnswerOutcome.ANSWER,
        sentences=checked.sentences,
        citations=checked.citations,
        route=Route.ANSWERED,
        notice="",
    )
    if not names_no_source(written):
        return answer
    if saw_images:
        return replace(answer, notice=OF_IMAGES)
    if not quoted.sentences:
        return replace(answer, outcome=AnswerOutcome.NOT_FOUND, route=Route.INSUFFICIENT)
    first = len(checked.citations)
    return replace(
        answer,
        outcome=AnswerOutcome.PASSAGES,
        route=Route.INSUFFICIENT,
        sentences=(*checked.sentences, *_below(quoted, first)),
        citations=(
            *checked.citations,
            *(replace(one, number=one.number + first) for one in quoted.citations),
        ),
        notice=NOTHING_CITED,
    )


def names_no_source(written: WrittenAnswer) -> bool:
    """Whether a model wrote something that cites nothing, as where it finds no answer."""
    checked = written.checked
    return bool(checked.sentences) and not any(one.citations for one in checked.sentences)


def _below(quoted: Answer, shift: int) -> Iterator[AnswerSentence]:
    """Yield the quotations as they stand behind what a model wrote."""
    for number, sentence in enumerate(quoted.sentences):
        note = "; ".join(filter(None, (QUOTED, sentence.note)))
        cited = tuple(one + shift for one in sentence.citations)
        before = sentence.before if number else "\n\n"
        yield replace(sentence, citations=cited, note=note, before=before)
