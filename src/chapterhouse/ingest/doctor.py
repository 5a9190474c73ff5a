"""The quick checks of a library, for people: what ``verify`` finds, one check a part."""

from collections.abc import Iterable, Mapping
from typing import Final

from chapterhouse.ingest.verify import verify_library
from chapterhouse.ports.index import Index
from chapterhouse.ports.store import Blobs, Store
from chapterhouse.text.counting import counted
from chapterhouse.types import Check, Finding, Verification

_SHOWN: Final = 3
_REPAIR: Final = "See what can be repaired: chapterhouse repair --dry-run"
# Every part that is looked at, in this order; indexes follow.
_PARTS: Final = (
    "database",
    "sequences",
    "orphans",
    "parts",
    "shelves",
    "files",
    "folders",
    "rows",
    "text",
    "chunks",
    "vectors",
    "bytes",
    "blobs",
    "memories",
    "encoders",
)


def examine(
    store: Store, blobs: Blobs, indexes: Mapping[str, Index], *, quick: bool = False
) -> tuple[Check, ...]:
    """Check the store, every document in it, the bytes it has and the indexes made from it."""
    return checks_of(verify_library(store, blobs, indexes, quick=quick), indexes)


def checks_of(found: Verification, indexes: Iterable[str]) -> tuple[Check, ...]:
    """Return one check for each part of a library.

    Args:
        found: What was found.
        indexes: Names of the indexes that were looked at.
    """
    faults: dict[str, list[Finding]] = {part: [] for part in _PARTS}
    faults |= {f"{name} index": [] for name in indexes}
    for one in found.findings:
        faults.setdefault(one.part, []).append(one)
    if faults["database"]:  # the rest was not looked at
        return (_check("database", faults["database"]),)
    return tuple(_check(part, findings) for part, findings in faults.items())


def _check(part: str, findings: list[Finding]) -> Check:
    if not findings:
        return Check(part, passed=True, sentence="Nothing is wrong.")
    shown = "; ".join(one.sentence for one in findings[:_SHOWN])
    hint = next((one.hint for one in findings if one.hint), "")
    sentence = f"{counted(len(findings), 'fault')}: {shown}"
    return Check(part, passed=False, sentence=sentence, hint=hint or _REPAIR)
