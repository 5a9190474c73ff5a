"""What a search found, as blocks."""

from collections.abc import Iterator
from typing import Final

from chapterhouse.presenting import wording
from chapterhouse.presenting.blocks import (
    Block,
    Bullets,
    Paragraph,
    Part,
    Style,
    Words,
    paragraph,
    plain,
)
from chapterhouse.presenting.citing import without_title
from chapterhouse.presenting.quoted import quoted_blocks
from chapterhouse.text.analyse import analyse
from chapterhouse.text.counting import counted
from chapterhouse.text.markdown import sentence_spans
from chapterhouse.text.naming import page_name
from chapterhouse.types import Hit, SearchResult, Trust

_REPEATS: Final = 5  # of a passage that are named


def hits_blocks(result: SearchResult, *, explain: bool = False, key_span: bool = False) -> Part:
    """Return the hits, best first, with their text.

    With ``key_span`` the sentence with most of the question's words stands out in each.
    """
    searched = wording.searched_text(result.documents, result.chunks)
    terms = frozenset(result.question.index_terms if key_span else ())
    parts = [_hit(hit, terms, explain=explain) for hit in result.hits]
    blocks: list[Block] = []
    if not result.hits:
        found = (Words("Nothing found.", Style.STRONG), Words(f" Searched {searched}."))
        blocks.append(Paragraph(found))
    blocks += [paragraph(warning, Style.WARNING) for warning in result.warnings]
    if explain or not result.hits:
        blocks.append(Bullets(tuple(map(plain, _explained(result, variants=explain)))))
    if result.hits:
        count = counted(len(result.hits), "passage")
        blocks.append(paragraph(f"{count} from {searched}", Style.QUIET))
    closing = Part("hits-end", "", tuple(blocks))
    return Part("hits", result.query.text, parts=(*parts, closing))


def _explained(result: SearchResult, *, variants: bool) -> Iterator[str]:
    for number, variant in enumerate(result.variants[1:] if variants else (), start=1):
        why = f" ({variant.note})" if variant.note else ""
        yield (
            f"variant {number}, {variant.kind.value}, weight {variant.weight:g}: "
            f"{variant.text}{why}"
        )
    yield f"terms: {', '.join(result.question.index_terms) or 'none'}"
    yield f"stemmers: {', '.join(name or 'other' for name in result.question.languages) or 'none'}"
    yield f"exact: {', '.join(result.question.exact) or 'nothing'}"


def _hit(hit: Hit, terms: frozenset[str], *, explain: bool) -> Part:
    chunk, document = hit.chunk, hit.document
    page = page_name(document.page_kind, chunk.page, chunk.page_label)
    place = f"characters {chunk.start}–{chunk.end}"
    trust = "" if document.trust is Trust.OWN else document.trust.value
    facts = [document.source, trust, page, place, f"score {hit.score:.3f}"]
    below: list[str] = []
    if hit.repeats:
        below.append(f"said again in: {wording.join_words(hit.repeats, _REPEATS)}")
    if explain:
        below += [f"{stage}: {value:.6g}" for stage, value in hit.stages.items()]
    quiet = [paragraph(text, Style.QUIET) for text in below]
    header = [paragraph(chunk.header.strip(), Style.QUIET)] if chunk.header else []
    about = paragraph(" · ".join(filter(None, facts)), Style.QUIET)
    text = chunk.text.strip()
    title = " › ".join((document.title, *without_title(document.title, chunk.section_path)))
    return Part(
        f"hit-{hit.rank}",
        f"{hit.rank}. {title}",
        (about, *header, *quoted_blocks(text, _key_span(text, document.language, terms)), *quiet),
    )


def _key_span(text: str, language: str, terms: frozenset[str]) -> tuple[int, int]:
    """Return start and end of the sentence with most of the terms, the first of several."""
    spans = list(sentence_spans(text, 0, len(text))) if terms else []
    shared = [len(terms.intersection(analyse(text[a:b], language))) for a, b in spans]
    if not any(shared) or not spans[1:]:
        return 0, 0
    start, end = spans[shared.index(max(shared))]
    return start, start + len(text[start:end].rstrip())
