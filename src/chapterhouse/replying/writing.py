"""A model writes, and what it wrote is checked against what it was given."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from chapterhouse.answering.prompt import instructions, user_message
from chapterhouse.answering.route import deferral, would_help
from chapterhouse.answering.sealed import EXTRACTIVE, QUOTED
from chapterhouse.answering.written import Checked, Lookup, check
from chapterhouse.protocols import LanguageModel
from chapterhouse.replying.desk import Desk, excerpts_of
from chapterhouse.replying.parts import Parts
from chapterhouse.replying.request import Request
from chapterhouse.replying.streaming import without_marks
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
)

OnText = Callable[[str], None]
_GENERAL: Final = (
    "You are a general assistant. You have no documents; say what you are not sure of. "
    "Answer briefly, in the language of the question, and cite nothing."
)
NOTHING_FOUND: Final = (
    "What the model wrote is not found in the documents; below it stands what they say."
)
_WROTE_NOTHING: Final = "The model wrote no statement, so the documents are quoted."
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
    desk = Desk(request, parts)
    blocks = desk.lay(excerpts_of(request, found, parts)) if request.grounding != "tool" else ()
    prompt = user_message(request.question, blocks, desk.nonce, recalled)
    tools = (desk.tool(),) if request.grounding != "inject" else ()
    text = await model.write(
        instructions(request.persona, tools=bool(tools)),
        prompt,
        tools=tools,
        on_text=without_marks(on_text) if on_text else None,
    )
    store = parts.engines.store
    checked = check(text.text, desk.given(), parts.judge, Lookup(store.document, store.body))
    warnings = (*quoted.warnings, _CUT) if text.cut else quoted.warnings
    return _told(replace(quoted, method=text.model, usage=text.usage, warnings=warnings), checked)


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
    where it wrote nothing to read. That it finds no answer is believed.
    """
    if not checked.sentences:
        return replace(quoted, method=EXTRACTIVE, notice=_WROTE_NOTHING, rejected=checked.rejected)
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


def _below(quoted: Answer, shift: int) -> Iterator[AnswerSentence]:
    """Yield the quotations as they stand behind what a model wrote."""
    for number, sentence in enumerate(quoted.sentences):
        note = "; ".join(filter(None, (QUOTED, sentence.note)))
        cited = tuple(one + shift for one in sentence.citations)
        before = sentence.before if number else "\n\n"
        yield replace(sentence, citations=cited, note=note, before=before)
