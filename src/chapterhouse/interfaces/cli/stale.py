"""Remembered answers whose sources are not as they were: verify --answers."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from chapterhouse.interfaces.cli.session import OK, PARTLY, Outcome, opened_library
from chapterhouse.interfaces.cli.terminal import cut, one_line
from chapterhouse.presenting.blocks import Block, Style, verbatim
from chapterhouse.text.counting import counted

if TYPE_CHECKING:
    from chapterhouse.answering.cite import CitationCheck
    from chapterhouse.answering.stale import StaleAnswer

_SHOWN: Final = 70  # characters of a question
_QUOTED: Final = 90  # of a quotation
_SOURCES: Final = {
    "same": "is as it was",
    "changed": "has changed",
    "moved": "has another name now",
    "gone": "is gone",
}
_QUOTES: Final = {
    "stands": "the quotation is still there",
    "moved": "the quotation is at another place",
    "lost": "the quotation is not there any more",
}


def stale_outcome() -> Outcome:
    """Return the remembered answers that are stale, or of which that is not known."""
    with opened_library(background=False) as library:
        found = library.upkeep.stale_answers()
    stale = [one for one in found if one.is_stale]
    unknown = [one for one in found if not one.is_stale]
    data = {"stale": list(map(_data, stale)), "not_known": list(map(_data, unknown))}
    return Outcome(data, _show(stale, unknown), PARTLY if stale else OK)


def _data(one: "StaleAnswer") -> dict[str, object]:
    memory = one.memory
    return {
        "id": memory.id,
        "persona": memory.persona,
        "question": memory.question,
        "asked": memory.asked,
        "known": one.is_known,
        "missing": one.missing,
        "citations": [
            {
                "document_id": check.citation.document_id,
                "source": check.citation.source,
                "quote": check.citation.quote,
                "state": check.source.value,
                "quotation": check.quote.value,
                "document_now": check.document_id,
                "source_now": check.source_now,
                "start": check.start,
                "end": check.end,
            }
            for check in one.checks
        ],
    }


def _show(stale: Sequence["StaleAnswer"], unknown: Sequence["StaleAnswer"]) -> Iterator[Block]:
    for one in stale:
        memory = one.memory
        day = datetime.fromtimestamp(memory.asked, UTC).date().isoformat()
        owner = memory.persona.replace("council_", "council ", 1) or "library"
        yield verbatim(
            (f"{memory.id} ", Style.STRONG),
            (cut(one_line(memory.question), _SHOWN), Style.TITLE),
            (f"  {owner}, {day}", Style.QUIET),
        )
        for check in one.checks:
            yield from _citation(check)
        for name in one.missing:
            yield verbatim(f"document {one_line(name)} is gone", indent=4)
    if unknown:
        count = counted(len(unknown), "older answer")
        yield verbatim((f"{count}: not known, their quotations were not recorded.", Style.QUIET))
    yield verbatim(f"{counted(len(stale), 'remembered answer')} with changed sources.")
    if stale:
        yield verbatim("Ask again, or forget one: chapterhouse memory forget ID")


def _citation(check: "CitationCheck") -> Iterator[Block]:
    source, quote = check.source.value, check.quote.value
    if source == "same" and quote == "stands":
        return
    name = one_line(check.citation.source)
    now = f" ({one_line(check.source_now)})" if source == "moved" else ""
    style = Style.BAD if quote == "lost" else Style.WARNING
    yield verbatim(f"{name} {_SOURCES[source]}{now}; ", (_QUOTES[quote], style), indent=4)
    yield verbatim((cut(f"“{one_line(check.citation.quote)}”", _QUOTED), Style.QUIET), indent=6)
