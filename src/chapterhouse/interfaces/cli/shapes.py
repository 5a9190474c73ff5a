"""What ``--json`` shows where it differs from the values themselves; ``docs/cli.md`` lists it."""

from dataclasses import dataclass

from chapterhouse.interfaces.cli.envelope import plain
from chapterhouse.interfaces.cli.session import OK, PARTLY
from chapterhouse.presenting.wording import ended
from chapterhouse.types import (
    AddReport,
    Answer,
    Body,
    Context,
    Document,
    Excerpt,
    FileOutcome,
    FileRecord,
    Hit,
    SearchResult,
    Status,
    Variant,
)


@dataclass(frozen=True, slots=True)
class Place:
    """A stretch of a document with where it stands and what stands around it."""

    document: Document
    start: int
    end: int
    text: str
    before: str
    after: str
    section_path: tuple[str, ...]
    page: int | None
    page_label: str


_DECIMALS = 6
_AROUND = 200  # characters shown on each side of a citation


def place(document: Document, body: Body, start: int, end: int) -> Place:
    """Find the section and page of ``text[start:end]`` by its first character."""
    section = next((s for s in body.sections if s.start <= start < s.end), None)
    page = next((p for p in body.pages if p.start <= start < p.end), None)
    return Place(
        document=document,
        start=start,
        end=end,
        text=body.text[start:end],
        before=body.text[max(0, start - _AROUND) : start],
        after=body.text[end : end + _AROUND],
        section_path=section.path if section else (),
        page=page.number if page else None,
        page_label=page.label if page else "",
    )


def report(value: AddReport, *, dry_run: bool = False) -> dict[str, object]:
    """Shape what an ``add`` did. Seconds are left out: they differ on every run."""
    return {
        "changed": value.changed,
        "counts": {status.value: value.count(status) for status in Status},
        "earlier": {status.value: value.count_earlier(status) for status in Status},
        "hidden": value.hidden,
        "dry_run": dry_run,
        "missing": list(value.missing),
        "outcomes": [_outcome(outcome) for outcome in value.outcomes],
    }


def is_incomplete(record: FileRecord) -> bool:
    """Whether not all of a file is in the library."""
    return ended(record) in {"partial", "skipped", "rejected"}


def report_code(value: AddReport) -> int:
    """Return 4 where a file was rejected or read in part, now or earlier, else 0."""
    incomplete = (Status.REJECTED, Status.PARTIAL)
    partly = any(value.count(status) or value.count_earlier(status) for status in incomplete)
    return PARTLY if partly else OK


def search(result: SearchResult, *, explain: bool) -> dict[str, object]:
    """Shape a search; the stages' scores only where they were asked for."""
    return {
        "query": plain(result.query),
        "hits": [_hit(hit, explain=explain) for hit in result.hits],
        "terms": list(result.terms),
        "languages": list(result.languages),
        "exact": list(result.exact),
        "searched": {"documents": result.documents, "chunks": result.chunks},
        "variants": [_variant(variant) for variant in result.variants] if explain else [],
        "warnings": list(result.warnings),
        "corrections": [plain(correction) for correction in result.corrections],
    }


def context(value: Context) -> dict[str, object]:
    """Shape a context; of the candidates that were not chosen only their number."""
    return {
        "question": value.question,
        "markdown": value.markdown,
        "tokens": value.tokens,
        "maximum": value.maximum,
        "sources": list(value.sources),
        "diversity": value.diversity,
        "information_gain": value.information_gain,
        "candidates": len(value.candidates),
        "warnings": list(value.warnings),
        "excerpts": [_excerpt(excerpt) for excerpt in value.excerpts],
    }


def answer(value: Answer) -> dict[str, object]:
    """Shape an answer: its values and, beside them, its one line of text."""
    usage = value.usage
    return {
        "question": value.question,
        "persona": value.persona,
        "display_name": value.display_name,
        "outcome": value.outcome.value,
        "certainty": value.certainty,
        "route": value.route.value,
        "notice": value.notice,
        "text": value.text,
        "sentences": plain(value.sentences),
        "citations": plain(value.citations),
        "conflicts": plain(value.conflicts),
        "searched": plain(value.searched),
        "would_help": list(value.would_help),
        "confidence": value.confidence,
        "method": value.method,
        "rejected": list(value.rejected),
        "handed_to": value.handed_to,
        "usage": None
        if usage is None
        else {
            "calls": usage.calls,
            "prompt_tokens": usage.prompt_tokens,
            "completion_tokens": usage.completion_tokens,
            "cost": None if usage.cost is None else str(usage.cost),
        },
        "kept": value.kept,
        "refreshed": value.refreshed,
        "warnings": list(value.warnings),
    }


def _variant(variant: Variant) -> dict[str, object]:
    return {
        "kind": variant.kind.value,
        "text": variant.text,
        "weight": variant.weight,
        "note": variant.note,
        "terms": {term.term: term.weight for term in variant.terms},
    }


def _excerpt(excerpt: Excerpt) -> dict[str, object]:
    return {
        "document": excerpt.hit.document.id,
        "chunk": excerpt.hit.chunk.id,
        "rank": excerpt.hit.rank,
        "start": excerpt.start,
        "end": excerpt.end,
        "text": excerpt.text,
        "tokens": excerpt.tokens,
        "relevance": round(excerpt.relevance, _DECIMALS),
    }


def _outcome(outcome: FileOutcome) -> dict[str, object]:
    return {
        "record": plain(outcome.record),
        "changed": outcome.changed,
        "notices": plain(outcome.notices),
        "inside": outcome.inside,
        "earlier": [
            {name: getattr(record, name) for name in ("source", "status", "code", "sentence")}
            for record in outcome.earlier
            if is_incomplete(record)
        ],
    }


def _hit(hit: Hit, *, explain: bool) -> dict[str, object]:
    chunk = hit.chunk
    shaped: dict[str, object] = {
        "rank": hit.rank,
        "score": hit.score,
        "document": plain(hit.document),
        "chunk": {
            "id": chunk.id,
            "start": chunk.start,
            "end": chunk.end,
            "text": chunk.text,
            "header": chunk.header,
            "kind": chunk.kind.value,
            "section_path": list(chunk.section_path),
            "page": chunk.page,
            "page_label": chunk.page_label,
            "parents": [list(parent) for parent in chunk.parents],
        },
        "repeats": list(hit.repeats),
    }
    if explain:
        shaped["stages"] = plain(hit.stages)
    return shaped
