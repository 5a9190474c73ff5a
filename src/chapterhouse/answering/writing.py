"""A model writes, and what it wrote is checked against what it was given."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Final

from chapterhouse.answering.check_written import Checked, Lookup, check, check_draft
from chapterhouse.answering.checksum import EXTRACTIVE, QUOTED
from chapterhouse.answering.drafts import OnDraft, OnText, drafts
from chapterhouse.answering.evidence_buffer import EvidenceBuffer, excerpts_of
from chapterhouse.answering.prompt import context_blocks, instructions, user_message
from chapterhouse.answering.request import Request, ToolCallsWanted
from chapterhouse.answering.route import deferral
from chapterhouse.answering.second_opinion import (
    INSTRUCTIONS,
    OUTPUT,
    opinions,
    statements,
    with_opinions,
)
from chapterhouse.errors import EngineError, PromptTooLongError
from chapterhouse.ports.models import ClaimJudge, LanguageModel
from chapterhouse.runtime import Runtime
from chapterhouse.text.counting import estimate_tokens
from chapterhouse.types import (
    FOUND,
    Answer,
    AnswerOutcome,
    AnswerSentence,
    Evidence,
    Judgement,
    Memory,
    Route,
    SearchResult,
    Support,
    Tool,
    Writing,
)

_GENERAL: Final = (
    "You are a general assistant. You have no documents; say what you are not sure of. "
    "Answer briefly, in the language of the question, and cite nothing."
)
NOTHING_FOUND: Final = (
    "Nothing that the model wrote could be confirmed. Compare it with the passages below."
)
NO_ANSWER: Final = "The model gave no answer; these are quotations."
# How a sentence that states nothing says that there is no answer, in the judge's languages. What
# has none of it, such as "Here is the answer:", is no answer either, and nobody was told so.
_REFUSES: Final = re.compile(
    r"\b(?:no|not|none|nothing|neither|never|cannot|unable|lacks?|silent|insufficient|unclear"
    r"|unknown|outside|beyond|outdated|disagree|sorry|apolog\w+|unfortunately|nicht|nichts|kein\w*"
    r"|schweig\w*|offen|leider|ne|pas|aucune?|rien|désolée?|regrette|malheureusement|ningun[oa]?"
    r"|ningún|nada|siento|lamentablemente|non|nessun\w*|niente|dispiace|purtroppo)\b"
    r"|n['\u2019](?:t\b|\w)|[\u6ca1\u672a\u4e0d\u65e0\u6b49\u61be]",
    re.IGNORECASE,
)
_NO_SECOND_OPINION: Final = "The model was not asked about its sentences:"
_LEADS_IN: Final = (":", "?", "\uff1a", "\uff1f")
_LEAST: Final = 50  # tokens of text, below which no excerpt is worth a call
_SPARE: Final = 0.9  # of what seems to fit: tokens are estimated
_CUT: Final = (
    "The model was cut off at its longest answer (language_model.maximum_tokens): "
    "more would follow."
)


@dataclass(frozen=True, slots=True)
class Written:
    """What a model wrote, every sentence judged and cited.

    Attributes:
        warnings: What the asker should know of the writing.
    """

    writing: Writing
    checked: Checked
    warnings: tuple[str, ...] = ()


async def write(
    request: Request,
    found: SearchResult,
    prompt: "Prompt",
    model: LanguageModel,
    runtime: Runtime,
    on_draft: OnDraft | None,
) -> Written:
    """Let a model write, and check what it wrote.

    Args:
        request: The question and how it is to be answered.
        found: The hits to choose excerpts from anew, where the prompt is too long.
        prompt: What the model is given.
        model: The model.
        runtime: The library's parts.
        on_draft: Is given what the model writes as it comes, checked sentence by sentence.

    Raises:
        EngineError: the model cannot be reached or wrote nothing.
        ToolCallsWanted: it wants tools of the asker's program called first.
    """
    # Most sentences are judged while the rest is still being written.
    judge = _cached_judge(runtime.judge)
    store, scope = prompt.evidence.with_texts(runtime).store, request.scope
    look = Lookup(partial(store.document, scope=scope), partial(store.body, scope=scope))

    def receiver(prompt: Prompt) -> OnText | None:
        return drafts(
            on_draft, lambda text: check_draft(text, prompt.evidence.given(), judge, look)
        )

    try:
        writing = await prompt.write(model, receiver(prompt))
    except PromptTooLongError as error:  # once more, with what fits
        smaller = replace(request, max_tokens=prompt.budget(error.fits))
        if smaller.max_tokens < _LEAST:
            raise
        prompt = prompt_for(smaller, found, runtime, prompt.recalled)
        writing = await prompt.write(model, receiver(prompt))
    if writing.wanted:
        raise ToolCallsWanted(writing.wanted, writing.usage)
    checked = check(writing.text, prompt.evidence.given(), judge, look)
    warnings = (_CUT,) if writing.cut else ()
    if request.settings.answer.check == "model":
        try:
            checked = await _check_again(checked, writing.text, prompt, model, judge, look)
        except EngineError as error:  # what the rules say stands
            warnings = (*warnings, f"{_NO_SECOND_OPINION} {error.message}")
    return Written(writing, checked, warnings)


def _cached_judge(judge: ClaimJudge) -> ClaimJudge:
    """Return a judge that is asked once for the same sentence beside the same evidence."""
    known = cache(judge)
    return lambda sentence, cited, others: known(sentence, tuple(cited), tuple(others))


async def _check_again(
    checked: Checked,
    text: str,
    prompt: "Prompt",
    model: LanguageModel,
    judge: ClaimJudge,
    look: Lookup,
) -> Checked:
    """Ask the model about what is neither quoted nor contradicted, and check once more.

    Raises:
        EngineError: the model cannot be reached or wrote nothing.
    """
    unsure = {Support.SUPPORTED, Support.NOT_FOUND}
    asked = tuple(dict.fromkeys(one.text for one in checked.sentences if one.support in unsure))
    blocks = prompt.evidence.blocks()
    if not asked or not blocks:
        return checked
    message = f"{context_blocks(blocks, prompt.evidence.nonce)}\n{statements(asked)}"
    writing = await model.write(INSTRUCTIONS, message, output=OUTPUT)
    second = with_opinions(judge, opinions(writing.text, asked), writing.model)
    return check(text, prompt.evidence.given(), second, look)


@dataclass(frozen=True, slots=True)
class Prompt:
    """All that a model is given for an answer."""

    evidence: EvidenceBuffer
    instructions: str
    message: str
    tools: tuple[Tool, ...]
    recalled: tuple[Memory, ...]

    async def write(self, model: LanguageModel, on_text: OnText | None) -> Writing:
        """Return what the model writes."""
        return await model.write(self.instructions, self.message, tools=self.tools, on_text=on_text)

    def budget(self, fits: float) -> int:
        """Return how many tokens of text may lie before the model where so much of it fits."""
        sources = sum(estimate_tokens(block.excerpt.text) for block in self.evidence.blocks())
        whole = max(estimate_tokens(f"{self.instructions}\n{self.message}"), sources)
        return min(int(_SPARE * (fits * whole - (whole - sources))), sources - 1)


def prompt_for(
    request: Request, found: SearchResult, runtime: Runtime, recalled: Sequence[Memory]
) -> Prompt:
    """Return what a model is given.

    Args:
        request: The question and how it is to be answered.
        found: The hits to choose excerpts from.
        runtime: The library's parts.
        recalled: Earlier answers that the model is reminded of.
    """
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
        ),
        user_message(request.question, blocks, evidence.nonce, recalled),
        (*tools, *request.tools),
        tuple(recalled),
    )


async def general(
    request: Request, quoted: Answer, model: LanguageModel, on_draft: OnDraft | None
) -> Answer:
    """Return what a model says of itself to a question that is not for the persona.

    Raises:
        EngineError: the model cannot be reached or wrote nothing.
    """
    assert request.persona is not None
    look = Lookup(_nothing, _nothing)

    on_text = drafts(on_draft, lambda text: check_draft(text, (), _of_no_document, look))
    text = await model.write(_GENERAL, request.question, on_text=on_text)
    checked = check(text.text, (), _of_no_document, look)
    sentences = tuple(
        AnswerSentence(sentence.text, (), Support.NOT_FOUND, before=sentence.before)
        for sentence in checked.sentences
    )
    return replace(
        quoted,
        sentences=sentences,
        route=Route.GENERAL,
        notice=deferral(request.persona, "the general assistant"),
        method=text.model,
        usage=text.usage,
        rejected=checked.rejected,
    )


def _of_no_document(
    _sentence: str, _cited: Sequence[Evidence], _others: Sequence[Evidence]
) -> Judgement:
    return Judgement(Support.NOT_FOUND)


def _nothing(_: str) -> None:
    return None


def combine(quoted: Answer, written: Written) -> Answer:
    """Put what a model wrote before the quotations; all that it wrote is shown.

    The quotations stay below where nothing that it claims was found in the documents, and alone
    where it stated nothing. That it finds no answer is believed.
    """
    checked, writing = written.checked, written.writing
    warnings = (*quoted.warnings, *written.warnings)
    quoted = replace(quoted, method=writing.model, usage=writing.usage, warnings=warnings)
    if _is_no_answer(checked):
        return replace(quoted, method=EXTRACTIVE, notice=NO_ANSWER, rejected=checked.rejected)
    found = any(sentence.support in FOUND for sentence in checked.sentences)
    claims = any(sentence.support is not Support.NO_STATEMENT for sentence in checked.sentences)
    combined_answer = replace(
        quoted,
        outcome=AnswerOutcome.ANSWER if found else AnswerOutcome.NOT_FOUND,
        sentences=checked.sentences,
        citations=checked.citations,
        rejected=checked.rejected,
        route=Route.ANSWERED if found else Route.INSUFFICIENT,
        notice="",
    )
    if found or not claims or not quoted.sentences:
        return combined_answer
    return replace(
        combined_answer,
        outcome=quoted.outcome,
        route=quoted.route,
        sentences=(*checked.sentences, *_below(quoted, len(checked.citations))),
        citations=(
            *checked.citations,
            *(replace(one, number=one.number + len(checked.citations)) for one in quoted.citations),
        ),
        notice=NOTHING_FOUND,
    )


def finds_no_answer(written: Written) -> bool:
    """Whether a model says that its sources hold no answer, and nothing else."""
    sentences = written.checked.sentences
    states = any(one.support is not Support.NO_STATEMENT for one in sentences)
    return not states and not _is_no_answer(written.checked)


def _is_no_answer(checked: Checked) -> bool:
    """Whether a model neither stated anything nor said that it finds no answer."""
    return all(
        sentence.support is Support.NO_STATEMENT
        and (sentence.text.endswith(_LEADS_IN) or not _REFUSES.search(sentence.text))
        for sentence in checked.sentences
    )


def _below(quoted: Answer, shift: int) -> Iterator[AnswerSentence]:
    """Yield the quotations as they stand behind what a model wrote."""
    for number, sentence in enumerate(quoted.sentences):
        note = "; ".join(filter(None, (QUOTED, sentence.note)))
        cited = tuple(one + shift for one in sentence.citations)
        before = sentence.before if number else "\n\n"
        yield replace(sentence, citations=cited, note=note, before=before)
