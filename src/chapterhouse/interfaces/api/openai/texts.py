"""Answers and minutes as the text that clients show, with the places of its citations.

A client may show nothing else, so that the sources stand at the end of the text, too.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from chapterhouse.council.minutes.contents import all_citations
from chapterhouse.council.minutes.outline import outline
from chapterhouse.interfaces.api.openai.results import Details, UrlCitation
from chapterhouse.interfaces.values import public_answer, public_minutes
from chapterhouse.presenting.answers import answer_blocks, written_blocks
from chapterhouse.presenting.citing import citation_line, clean
from chapterhouse.presenting.markdown import Marker, bracketed_markdown, escaped
from chapterhouse.types import Answer, AnswerSentence, Citation, FollowUp, Minutes, Usage

_TAKEN: Final = "Taken as: "
SOURCES_TITLE: Final = "**Sources**"
_ESCAPED: Final = re.compile(r"\\([^A-Za-z0-9\s])")


@dataclass(frozen=True, slots=True)
class Shown:
    """What a client gets of an answer or of minutes.

    Attributes:
        text: Markdown with citations as ``[1]``, and its sources.
    """

    text: str
    annotations: tuple[UrlCitation, ...]
    details: Details
    usage: Usage | None


def show_answer(answer: Answer, opening: str, documents: str) -> Shown:
    """Return an answer as clients get it."""
    details = public_answer(answer)
    public: Answer = details
    behind: tuple[str, ...] = ()
    if _was_written(public):  # what is said about it follows: it was shown as it was written
        behind = tuple(filter(None, (public.notice, public.refreshed)))
        public = replace(public, notice="", refreshed="", display_name="")
    body, markers = bracketed_markdown(answer_blocks(public), titled=False)
    body = "\n\n".join((body, *map(escaped, behind)))
    cited = {str(one.number): one for one in answer.citations}
    text, annotations = _with_sources(opening, body, markers, cited, documents)
    return Shown(text, annotations, details, answer.usage)


def show_minutes(minutes: Minutes, documents: str) -> Shown:
    """Return minutes as clients get them; arguments as of ``show_answer``."""
    shown = public_minutes(minutes)
    body, markers = bracketed_markdown(outline(shown))
    cited = dict(all_citations(minutes))
    text, annotations = _with_sources("", body, markers, cited, documents)
    return Shown(text, annotations, shown, minutes.usage)


def draft_text(sentences: Sequence[AnswerSentence]) -> str:
    """Return sentences as the text of their answer begins, where a model wrote it."""
    return bracketed_markdown(written_blocks(sentences), titled=False)[0]


def opening_of(found: FollowUp) -> str:
    """Return how a text begins: with the question as it was taken, where it was asked otherwise."""
    is_other = found.question != found.asked
    return f"{_TAKEN}{escaped(found.question)}\n\n" if is_other else ""


def taken_as(text: str) -> tuple[str, str]:
    """Return the question that an earlier text says it answers, or nothing, and the rest of it."""
    if not text.startswith(_TAKEN):
        return "", text
    line, _, rest = text.removeprefix(_TAKEN).partition("\n")
    return _ESCAPED.sub(r"\1", line).strip(), rest


def _was_written(answer: Answer) -> bool:
    return answer.found and answer.method != "extractive"


def _with_sources(
    before: str,
    body: str,
    markers: Iterable[Marker],
    cited: dict[str, Citation],
    documents: str,
) -> tuple[str, tuple[UrlCitation, ...]]:
    """Return a text with its sources at the end, and where it names them."""
    shift = len(before)
    found = [(one, clean(cited[one.name])) for one in markers if one.name in cited]
    annotations = tuple(
        UrlCitation(
            start_index=marker.start + shift,
            end_index=marker.end + shift,
            title=citation_line(one),
            url=one.link or f"{documents}/{one.document_id}/content",
        )
        for marker, one in found
        if one.link or not one.tool
    )
    named = dict.fromkeys(marker.name for marker, _ in found)
    lines = [_source(name, clean(cited[name])) for name in named]
    sources = "\n".join((SOURCES_TITLE, "", *lines)) if lines else ""
    return "\n\n".join(filter(None, (f"{before}{body}".rstrip(), sources))), annotations


def _source(name: str, citation: Citation) -> str:
    link = f" <{citation.link}>" if citation.link else ""
    return f"- [{name}] {escaped(citation_line(citation))}{link}"
