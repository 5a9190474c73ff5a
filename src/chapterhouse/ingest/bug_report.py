"""A report for a bug tracker: numbers, versions and names of checks, and nothing of the documents.

Sentences of checks may name files, people and places, so none is taken. What is taken is listed
here, value by value: a setting is shown only where its value is a number, a truth value or one of
a few words that the program knows.
"""

from collections import Counter
from typing import Any, Final, get_args, get_origin

from pydantic import BaseModel

from chapterhouse.ingest.environment import (
    Surroundings,
    changed_settings,
    environment_checks,
    file_system,
    sizes,
    versions,
)
from chapterhouse.reading.formats import supported_formats
from chapterhouse.settings import Settings
from chapterhouse.types import Scope, Status, Verification

REPORT: Final = "chapterhouse report"  # how the format of one begins


def bug_report(around: Surroundings, found: Verification) -> dict[str, Any]:
    """Return what helps to find a bug and tells nothing of what a library holds."""
    store, everything = around.store, Scope.everything()
    counts, census = store.counts(everything), store.census(everything)
    checks = {check.name: check.passed for check in environment_checks(around)}
    findings = Counter(f"{_part(one.part)}: {one.remedy.value}" for one in found.findings)
    return {
        "format": f"{REPORT} 1",
        "versions": versions(around.version),
        "checks": checks,
        "findings": dict(sorted(findings.items())),
        "quick": found.quick,
        "documents": census.documents,
        "chunks": census.chunks,
        "shelves": len(counts["shelf"]),
        "by_format": _known(counts["format"]),
        "by_status": {one.value: counts["status"].get(one.value, 0) for one in Status},
        "changes": store.sequence(),
        "sizes": sizes(around.folder),
        "file_system": file_system(around.folder),
        "folders": len(store.roots()),
        "encoders": [
            {"role": one.role, "done": one.done, "total": one.total, "problem": bool(one.problem)}
            for one in around.encoders
        ],
        "is_embedding": around.is_embedding,
        "settings": {
            name: value if _is_safe(name, value) else "(set)"
            for name, value in changed_settings(around.settings).items()
            if not name.startswith("models.")
        },
        "models": len(around.settings.models),
        "unavailable_formats": [row.format for row in supported_formats() if not row.available],
    }


def _part(name: str) -> str:
    """Return the part of a finding; all of them are the program's own words."""
    return name if name.replace(" ", "").isalpha() else "other"


def _known(by_format: dict[str, int]) -> dict[str, int]:
    """Count the formats that the program has no name for as one."""
    names = {row.format for row in supported_formats()}
    known = Counter[str]()
    for name, number in by_format.items():
        known[name if name in names or name in {"markdown", "text"} else "other"] += number
    return dict(sorted(known.items()))


def _is_safe(name: str, value: object) -> bool:
    """Whether the value of a setting is a number, or one of the words that it can have."""
    if isinstance(value, (bool, int, float)) or value is None:
        return True
    section, _, field = name.partition(".")
    model = Settings.model_fields[section].annotation
    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        return False
    wanted = model.model_fields[field].annotation
    return get_origin(wanted) is not None and value in get_args(wanted)
