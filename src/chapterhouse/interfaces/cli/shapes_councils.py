"""What ``--json`` shows of councils."""

from collections.abc import Mapping, Sequence

from chapterhouse.agents.council import as_object
from chapterhouse.agents.council_folder import CouncilFolder
from chapterhouse.agents.council_model import Member
from chapterhouse.agents.councils import Entry, Link
from chapterhouse.agents.listing import Listed
from chapterhouse.agents.problems import Problem, Severity
from chapterhouse.interfaces.cli import shapes, shapes_personas
from chapterhouse.interfaces.cli.envelope import plain
from chapterhouse.interfaces.cli.session import FAILED, OK
from chapterhouse.types import Census


def folder(value: CouncilFolder) -> dict[str, object]:
    """Shape a council's folder: its file as it is written, and what that comes to."""
    council = value.council
    return {
        "slug": value.slug,
        "display_name": council.title,
        "path": str(value.path),
        "shelf": council.shelf,
        "config": as_object(council),
        "members": [_seat(member) for member in council.members],
        "chair": _seat(council.chaired_by) if council.chaired_by else None,
        "rounds": [
            {"name": entry.name, "kind": entry.kind.value, "shows_claims": entry.shows_claims}
            for entry in council.rounds
        ],
        "folders": [str(path) for path in value.folders],
    }


def _seat(member: Member) -> dict[str, object]:
    return {"key": member.key, "seat": member.seat.value}


def entries(found: Sequence[Entry], counts: Mapping[str, int]) -> list[dict[str, object]]:
    """Shape the list of councils, with the number of documents that each shares."""
    return [
        {
            "slug": entry.slug,
            "display_name": entry.folder.council.title if entry.folder else "",
            "members": [m.key for m in entry.folder.council.members] if entry.folder else [],
            "rounds": [r.name for r in entry.folder.council.rounds] if entry.folder else [],
            "documents": counts[entry.slug],
            "problems": [problem(found) for found in entry.problems],
            "readable": entry.folder is not None,
        }
        for entry in found
    ]


def council(value: CouncilFolder, census: Census, *, current: bool) -> dict[str, object]:
    """Shape one council with the counts of its shelf."""
    return {**folder(value), "census": plain(census), "current": current}


def problem(value: Problem) -> dict[str, object]:
    """Shape a problem; ``path`` is a list of keys and numbers."""
    return {
        "council": value.slug,
        "path": list(value.path),
        "code": value.code.value,
        "sentence": value.sentence,
        "hint": value.hint,
        "severity": value.severity.value,
    }


def problems(found: Sequence[Problem]) -> dict[str, object]:
    """Shape what validation found."""
    return {
        "problems": [problem(entry) for entry in found],
        "counts": {kind.value: _count(found, kind) for kind in Severity},
    }


def problems_code(found: Sequence[Problem]) -> int:
    """Return 1 where a council cannot meet, else 0."""
    return FAILED if _count(found, Severity.ERROR) else OK


def documents(value: CouncilFolder, listed: Sequence[Listed]) -> dict[str, object]:
    """Shape what is indexed for all members, and the linked folders."""
    return {**shapes_personas.documents(listed), "folders": [str(path) for path in value.folders]}


def link(value: Link, *, dry_run: bool) -> dict[str, object]:
    """Shape what linking or unlinking did."""
    return {
        "slug": value.folder.slug,
        "folder": value.written,
        "changed": value.changed,
        "refresh": shapes_personas.refresh(value.refresh),
        "dry_run": dry_run,
    }


def link_code(value: Link) -> int:
    """Return 4 where a file was rejected or read in part, else 0."""
    sync = value.refresh.sync
    return shapes.report_code(sync.files) if sync else OK


def _count(found: Sequence[Problem], kind: Severity) -> int:
    return sum(entry.severity is kind for entry in found)
