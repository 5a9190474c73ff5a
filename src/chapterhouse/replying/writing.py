"""A model writes, and what it wrote is checked against what it was given."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from chapterhouse.answering.prompt import (
    Shown,
    context_blocks,
    instructions,
    shown,
    user_message,
)
from chapterhouse.answering.provenance import stated_date
from chapterhouse.answering.route import deferral, would_help
from chapterhouse.answering.written import CARRIED, Checked, Given, Lookup, check
from chapterhouse.asking import context_sources_of
from chapterhouse.protocols import LanguageModel
from chapterhouse.replying.parts import Parts
from chapterhouse.replying.request import Request
from chapterhouse.replying.streaming import without_marks
from chapterhouse.retrieval.context import build_context
from chapterhouse.searching import packing_for
from chapterhouse.types import (
    Answer,
    AnswerSentence,
    Evidence,
    Excerpt,
    Judgement,
    Memory,
    Query,
    Route,
    SearchResult,
    Support,
    Tool,
)

OnText = Callable[[str], None]
_FOUND: Final = CARRIED | {Support.MISATTRIBUTED}
_GENERAL: Final = (
    "You are a general assistant. You have no documents; say what you are not sure of. "
    "Answer briefly, in the language of the question, and cite nothing."
)
_UNCARRIED: Final = (
    "Nothing that the model wrote is carried by the documents, so they are quoted instead."
)
_LONGEST_WARNING: Final = 1_000
EXTRACTIVE: Final = "extractive"
_CUT: Final = (
    "The model was cut off at its longest answer (language_model.maximum_tokens): "
    "more would follow."
)
_PARAMETERS: Final[Mapping[str, object]] = {
    "type": "object",
    "properties": {"query": {"type": "string", "minLength": 1, "maxLength": 1_000}},
    "required": ["query"],
    "additionalProperties": False,
}


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
    desk = _Desk(request, parts)
    blocks = desk.lay(_excerpts(request, found, parts)) if request.grounding != "tool" else ()
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
        AnswerSentence(sentence.text, (), Support.UNSUPPORTED, before=sentence.before)
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
    return Judgement(Support.UNSUPPORTED)


def _nothing(_: str) -> None:
    return None


def _told(quoted: Answer, checked: Checked) -> Answer:
    """Put the checked sentences in the place of the quotations.

    Where the evidence suffices and nothing that the model claims is carried, the quotations stay.
    """
    found = any(sentence.support in _FOUND for sentence in checked.sentences)
    claims = [s.text for s in checked.sentences if s.support is not Support.NO_CLAIM]
    if quoted.found and claims and not found:
        wrote = " ".join(claims)[:_LONGEST_WARNING]
        warning = f"The model wrote what the documents do not carry: {wrote}"
        return replace(
            quoted,
            notice=_UNCARRIED,
            method=EXTRACTIVE,
            rejected=checked.rejected,
            warnings=(*quoted.warnings, warning),
        )
    insufficient = not found
    return replace(
        quoted,
        found=found,
        sentences=checked.sentences,
        citations=checked.citations,
        rejected=checked.rejected,
        route=Route.ANSWERED if found else Route.INSUFFICIENT,
        notice="",
        would_help=would_help(quoted.searched) if insufficient else (),
        conflicts=quoted.conflicts if found else (),
    )


class _Desk:
    """What lies before the model: excerpts given at once, and those that it searched for."""

    def __init__(self, request: Request, parts: Parts) -> None:
        self._request = request
        self._parts = parts
        self._laid: list[Shown] = []
        self.nonce = parts.nonce()

    def lay(self, excerpts: Sequence[Excerpt]) -> tuple[Shown, ...]:
        """Add excerpts and return how the prompt names them."""
        known = {_stretch(block.excerpt) for block in self._laid}
        fresh = shown([e for e in excerpts if _stretch(e) not in known], self._laid)
        self._laid += fresh
        return fresh

    def given(self) -> tuple[Given, ...]:
        """Return everything that the model may cite."""
        return tuple(
            Given(block.place, _evidence(block.excerpt, self._parts)) for block in self._laid
        )

    def tool(self) -> Tool:
        """Return the tool by which the model searches."""
        return Tool(
            "search_documents",
            "Search the documents for passages. Call it whenever the question needs facts that "
            "the context does not hold. Returns passages that can be cited.",
            _PARAMETERS,
            self._search,
        )

    def _search(self, arguments: Mapping[str, object]) -> str:
        request, parts = self._request, self._parts
        query = Query(
            str(arguments["query"]),
            request.shelves,
            limit=request.settings.packing.hits,
            per_document=0,
            tags=request.tags,
        )
        found = parts.retrieve(query, parts.method(request.settings, None))
        blocks = self.lay(_excerpts(request, found, parts))
        return context_blocks(blocks, self.nonce) if blocks else "Nothing more was found."


def _excerpts(request: Request, found: SearchResult, parts: Parts) -> Sequence[Excerpt]:
    """Return the best excerpts that fit, in reading order."""
    settings = request.settings
    lookup = context_sources_of(parts.engines, settings.tokens)
    packing = packing_for(settings.packing, lookup.count_tokens)
    context = build_context(found, lookup, request.max_tokens, packing)
    ranked = sorted(context.excerpts, key=lambda e: (-e.relevance, e.hit.rank, e.start))
    best = {id(excerpt) for excerpt in ranked[: request.max_chunks]}
    return [excerpt for excerpt in context.excerpts if id(excerpt) in best]


def _stretch(excerpt: Excerpt) -> tuple[str, int, int]:
    return excerpt.hit.document.id, excerpt.start, excerpt.end


def _evidence(excerpt: Excerpt, parts: Parts) -> Evidence:
    """Return the very stretch of the document; what is repeated above a table is not in it."""
    document = excerpt.hit.document
    body = parts.engines.store.body(document.id)
    return Evidence(
        document.id,
        excerpt.start,
        excerpt.end,
        body.text[excerpt.start : excerpt.end] if body else "",
        language=document.language,
        title=document.title,
        section_path=excerpt.hit.chunk.section_path,
        date=stated_date(document),
    )
