"""What ``--json`` shows of personas."""

from collections import Counter
from collections.abc import Mapping, Sequence

from chapterhouse.agents.curated import Outcome as Curation
from chapterhouse.agents.listing import Listed, Standing
from chapterhouse.agents.means import Refresh
from chapterhouse.agents.persona_folder import PersonaFolder
from chapterhouse.agents.personas import Entry
from chapterhouse.agents.problems import Problem, Severity
from chapterhouse.agents.proposal import Proposal
from chapterhouse.agents.training import Training
from chapterhouse.interfaces.cli import shapes
from chapterhouse.interfaces.cli.envelope import plain
from chapterhouse.interfaces.cli.session import FAILED, OK, PARTLY
from chapterhouse.types import Census


def folder(value: PersonaFolder) -> dict[str, object]:
    """Shape a persona's folder: who they are and all that is set."""
    return {
        "slug": value.slug,
        "display_name": value.display_name,
        "path": str(value.path),
        "config": value.config.model_dump(mode="json"),
        "prose": value.prose,
    }


def entries(found: Sequence[Entry], counts: Mapping[str, int]) -> list[dict[str, object]]:
    """Shape the list of personas, with the number of documents on each shelf."""
    return [
        {
            "slug": entry.slug,
            "display_name": entry.folder.display_name if entry.folder else "",
            "tags": list(entry.folder.config.tags) if entry.folder else [],
            "documents": counts[entry.slug],
            "problems": [problem(one) for one in entry.problems],
            "usable": entry.folder is not None,
        }
        for entry in found
    ]


def persona(value: PersonaFolder, census: Census, *, current: bool) -> dict[str, object]:
    """Shape one persona with the counts of their shelf."""
    return {**folder(value), "census": plain(census), "current": current}


def problem(value: Problem) -> dict[str, object]:
    """Shape a problem; ``key`` is its place in the file."""
    return {
        "file": value.file,
        "key": value.place,
        "reason": value.sentence,
        "hint": value.hint,
        "severity": value.severity.value,
    }


def problems(found: Sequence[Problem]) -> dict[str, object]:
    """Shape what validation found."""
    return {
        "problems": [problem(one) for one in found],
        "counts": {kind.value: _count(found, kind) for kind in Severity},
    }


def errors(found: Sequence[Problem]) -> tuple[Problem, ...]:
    """Return the problems that are errors."""
    return tuple(one for one in found if one.severity is Severity.ERROR)


def problems_code(found: Sequence[Problem]) -> int:
    """Return 1 where a persona cannot be used, else 0."""
    return FAILED if _count(found, Severity.ERROR) else OK


def documents(listed: Sequence[Listed]) -> dict[str, object]:
    """Shape what is indexed of a persona."""
    counts = Counter(entry.status for entry in listed)
    return {
        "documents": plain(listed),
        "counts": {standing.value: counts[standing] for standing in Standing},
    }


def moved(entry: Listed, *, out: bool, dry_run: bool) -> dict[str, object]:
    """Shape what was taken out of the index or into it again."""
    return {"file": plain(entry), "removed": out, "dry_run": dry_run}


def training(value: Training, *, dry_run: bool) -> dict[str, object]:
    """Shape what a training did and what it proposes."""
    return {
        "slug": value.slug,
        "copied": list(value.copied),
        "fetched": plain(value.fetched),
        "refresh": refresh(value.refresh),
        "again": shapes.report(value.again) if value.again else None,
        "proposal": _proposal(value.proposal),
        "accepted": value.accepted,
        "dry_run": dry_run,
    }


def training_code(value: Training) -> int:
    """Return 4 where a page could not be fetched or a file not be read, else 0."""
    fetched = value.fetched.outcomes if value.fetched else ()
    curated = value.refresh.curation.outcomes if value.refresh.curation else ()
    failed = any(outcome.status == "failed" for outcome in fetched)
    failed |= any(outcome.status in {Curation.FAILED, Curation.CONFLICT} for outcome in curated)
    read = [value.again, value.refresh.sync.files if value.refresh.sync else None]
    codes = [shapes.report_code(report) for report in read if report]
    return PARTLY if failed or PARTLY in codes else OK


def refresh(value: Refresh) -> dict[str, object]:
    """Shape what bringing a persona up to date did. Seconds are left out, as in ``report``."""
    sync = value.sync
    return {
        "changed": value.changed,
        "curation": plain(value.curation),
        "files": shapes.report(sync.files) if sync else None,
        "removed": list(sync.removed) if sync else [],
        "moves": plain(sync.moves) if sync else [],
        "warnings": list(value.warnings),
    }


def _proposal(value: Proposal) -> dict[str, object]:
    return {
        "changes": [
            {**_plain_dict(change), "added": list(change.added), "dropped": list(change.dropped)}
            for change in value.changes
        ],
        "reasons": dict(value.reasons),
        "method": value.method,
        "warnings": list(value.warnings),
    }


def _plain_dict(value: object) -> dict[str, object]:
    shaped = plain(value)
    assert isinstance(shaped, dict)
    return shaped


def _count(found: Sequence[Problem], kind: Severity) -> int:
    return sum(one.severity is kind for one in found)
