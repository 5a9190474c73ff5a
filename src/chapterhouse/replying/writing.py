"""A model writes, and what it wrote is checked against what it was given."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from chapterhouse.answering.prompt import context_blocks, instructions, user_message
from chapterhouse.answering.route import deferral, would_help
from chapterhouse.answering.sealed import EXTRACTIVE, QUOTED
from chapterhouse.answering.second_opinion import (
    INSTRUCTIONS,
    OUTPUT,
    opinions,
    statements,
    with_opinions,
)
from chapterhouse.answering.written import Checked, Lookup, check
from chapterhouse.errors import EngineError, PromptTooLongError
from chapterhouse.protocols import LanguageModel
from chapterhouse.replying.desk import Desk, excerpts_of
from chapterhouse.replying.parts import Parts
from chapterhouse.replying.request import Request
from chapterhouse.replying.streaming import without_marks
from chapterhouse.text.tokens import estimate_tokens
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

OnText = Callable[[str], None]
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


async def written(
    request: Request,
    found: SearchResult,
    quoted: Answer,
    model: LanguageModel,
    parts: Parts,
    on_text: OnText | None,
    recalled: Sequence[Memory],
) -> Answer:
    """Return what a model makes of the excerpts, every sentence judged and cited.

    Args:
        request: The question and how it is to be answered.
        found: The hits to choose excerpts from.
        quoted: The answer by quotation, for all that does not depend on the model.
        model: The model.
        parts: What the library is made of.
        on_text: Is given the model's text as it comes, without markers.
        recalled: Earlier answers that the model is reminded of.

    Raises:
        EngineError: the model cannot be reached or wrote nothing.
    """
    prompt = _prompt(request, found, parts, recalled)
    try:
        text = await prompt.write(model, on_text)
    except PromptTooLongError as error:  # once more, with what fits
        smaller = replace(request, max_tokens=prompt.budget(error.fits))
        if smaller.max_tokens < _LEAST:
            raise
        prompt = _prompt(smaller, found, parts, recalled)
        text = await prompt.write(model, on_text)
    store, given = parts.engines.store, prompt.desk.given()
    look = Lookup(store.document, store.body)
    checked = check(text.text, given, parts.judge, look)
    warnings = (*quoted.warnings, _CUT) if text.cut else quoted.warnings
    if request.settings.answer.check == "model":
        try:
            checked = await _checked_again(checked, text.text, prompt, model, parts, look)
        except EngineError as error:  # what the rules say stands
            warnings = (*warnings, f"{_NO_SECOND_OPINION} {error.message}")
    return _told(replace(quoted, method=text.model, usage=text.usage, warnings=warnings), checked)


async def _checked_again(
    checked: Checked, text: str, prompt: "_Prompt", model: LanguageModel, parts: Parts, look: Lookup
) -> Checked:
    """Ask the model about what is neither quoted nor contradicted, and check once more.

    Raises:
        EngineError: the model cannot be reached or wrote nothing.
    """
    unsure = {Support.SUPPORTED, Support.NOT_FOUND}
    asked = tuple(dict.fromkeys(one.text for one in checked.sentences if one.support in unsure))
    blocks = prompt.desk.laid()
    if not asked or not blocks:
        return checked
    message = f"{context_blocks(blocks, prompt.desk.nonce)}\n{statements(asked)}"
    told = await model.write(INSTRUCTIONS, message, output=OUTPUT)
    judge = with_opinions(parts.judge, opinions(told.text, asked), told.model)
    return check(text, prompt.desk.given(), judge, look)


@dataclass(frozen=True, slots=True)
class _Prompt:
    """All that a model is given for an answer."""

    desk: Desk
    instructions: str
    message: str
    tools: tuple[Tool, ...]

    async def write(self, model: LanguageModel, on_text: OnText | None) -> Writing:
        """Return what the model writes."""
        shown = without_marks(on_text) if on_text else None
        return await model.write(self.instructions, self.message, tools=self.tools, on_text=shown)

    def budget(self, fits: float) -> int:
        """Return how many tokens of text may lie before the model where so much of it fits."""
        sources = sum(estimate_tokens(block.excerpt.text) for block in self.desk.laid())
        whole = max(estimate_tokens(f"{self.instructions}\n{self.message}"), sources)
        return min(int(_SPARE * (fits * whole - (whole - sources))), sources - 1)


def _prompt(
    request: Request, found: SearchResult, parts: Parts, recalled: Sequence[Memory]
) -> _Prompt:
    desk = Desk(request, parts)
    blocks = desk.lay(excerpts_of(request, found, parts)) if request.grounding != "tool" else ()
    tools = (desk.tool(),) if request.grounding != "inject" else ()
    return _Prompt(
        desk,
        instructions(
            request.persona, words=request.form.words, today=parts.today(), tools=bool(tools)
        ),
        user_message(request.question, blocks, desk.nonce, recalled),
        tools,
    )


async def general(
    request: Request, quoted: Answer, model: LanguageModel, on_text: OnText | None
) -> Answer:
    """Return what a model says of itself to a question that is not for the persona.

    Raises:
        EngineError: the model cannot be reached or wrote nothing.
    """
    assert request.persona is not None
    text = await model.write(
        _GENERAL, request.question, on_text=without_marks(on_text) if on_text else None
    )
    checked = check(text.text, (), _of_no_document, Lookup(_nothing, _nothing))
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


def _told(quoted: Answer, checked: Checked) -> Answer:
    """Put the checked sentences before the quotations; all that the model wrote is shown.

    The quotations stay below where nothing that it claims was found in the documents, and alone
    where it stated nothing. That it finds no answer is believed.
    """
    if _is_no_answer(checked):
        return replace(quoted, method=EXTRACTIVE, notice=NO_ANSWER, rejected=checked.rejected)
    found = any(sentence.support in FOUND for sentence in checked.sentences)
    claims = any(sentence.support is not Support.NO_STATEMENT for sentence in checked.sentences)
    told = replace(
        quoted,
        outcome=AnswerOutcome.ANSWER if found else AnswerOutcome.NOT_FOUND,
        sentences=checked.sentences,
        citations=checked.citations,
        rejected=checked.rejected,
        route=Route.ANSWERED if found else Route.INSUFFICIENT,
        notice="",
        would_help=() if found else would_help(quoted.searched),
        conflicts=quoted.conflicts if found else (),
    )
    if found or not claims or not quoted.sentences:
        return told
    return replace(
        told,
        outcome=quoted.outcome,
        route=quoted.route,
        sentences=(*checked.sentences, *_below(quoted, len(checked.citations))),
        citations=(
            *checked.citations,
            *(replace(one, number=one.number + len(checked.citations)) for one in quoted.citations),
        ),
        notice=NOTHING_FOUND,
        would_help=(),
        conflicts=quoted.conflicts,
    )


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
