"""What people see of councils. Plain lines, safe to show on any terminal."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from chapterhouse.agents.council_model import Member, MemberKind, Round, RoundKind
from chapterhouse.agents.declared_tools import tool_name
from chapterhouse.agents.problems import Problem
from chapterhouse.interfaces.cli import render_personas
from chapterhouse.interfaces.cli.terminal import one_line
from chapterhouse.presenting.blocks import Block, Columns, Style, verbatim
from chapterhouse.text.counting import counted
from chapterhouse.types import CorpusCounts
from chapterhouse.types.personas import DOCS

if TYPE_CHECKING:
    from chapterhouse.agents.councils import CouncilFolder, Link
    from chapterhouse.agents.listing import Listed
    from chapterhouse.agents.registry import Entry


def made(
    folder: "CouncilFolder",
    found: Sequence[Problem],
    reopening: str,
) -> Iterator[Block]:
    """Say where a new council is and what comes next."""
    slug = folder.slug
    yield verbatim("Made ", (folder.council.title, Style.STRONG), f" in {folder.path}")
    yield verbatim("Next:")
    steps = (
        ("1. Say who sits in it and what it is for, in:", str(folder.file)),
        (
            f"2. Drop documents for all members into {DOCS}/, or link a folder:",
            f"chapterhouse council docs link {slug} PATH{reopening}",
        ),
        ("3. See what is still wrong:", f"chapterhouse council validate {slug}{reopening}"),
    )
    for what, how in steps:
        yield verbatim(f"  {what}")
        yield verbatim(f"     {how}")
    for problem in found:
        yield from render_personas.problem(problem)


def entries(found: "Sequence[Entry[CouncilFolder]]", counts: Mapping[str, int]) -> Iterator[Block]:
    """List councils, a line each; those that cannot be read with the reason under it."""
    if not found:
        yield verbatim("No councils. Make one: chapterhouse council new SLUG")
        return
    rows = [("slug", "name", "documents", "rounds", "members")]
    rows += [
        (
            entry.slug,
            entry.folder.council.title if entry.folder else "(cannot be read)",
            f"{counts[entry.slug]:,}",
            str(len(entry.folder.council.rounds)) if entry.folder else "",
            _joined(m.key for m in entry.folder.council.members) if entry.folder else "",
        )
        for entry in found
    ]
    yield Columns(rows)
    for entry in found:
        for problem in entry.problems:
            yield from render_personas.problem(problem)


def council(folder: "CouncilFolder", census: CorpusCounts, *, current: bool) -> Iterator[Block]:
    """Show everything known of a council."""
    value = folder.council
    members = counted(value.parallel, "member")
    state = "" if current else "; its folders have changed since, and are read when it next meets"
    rows = [
        ("name", value.title),
        ("slug", value.slug),
        ("folder", str(folder.path)),
        ("purpose", value.purpose or "not told"),
        *(("member", _member(member)) for member in value.members),
        ("chair", _member(value.chaired_by) if value.chaired_by else "nobody"),
        *((f"round {number}", _round(entry)) for number, entry in enumerate(value.rounds, 1)),
        ("options", _joined(value.options) or "none"),
        ("model", value.model or "the library's"),
        ("tools", _joined(map(tool_name, value.tools)) or "none"),
        ("documents", f"{census.documents:,}, {counted(census.chunks, 'chunk')}{state}"),
        ("shelf", value.shelf),
        ("linked", _joined(map(str, folder.folders)) or "no folder"),
        ("at a time", f"{members}, {value.round_timeout_seconds:g} s a round"),
        ("concede", "only for new evidence" if value.concession_rule else "freely"),
    ]
    yield Columns(rows, header=False)


def _member(member: Member) -> str:
    kind = {
        MemberKind.PERSONA: member.persona,
        MemberKind.COUNCIL: member.council,
        MemberKind.ROLE: "",
    }[member.kind]
    details: list[str] = [f"{member.kind.value} {kind}".strip()]
    details += [member.model] if member.model else []
    details += [f"grounding {member.grounding}"] if member.grounding else []
    details += [f"tools {_joined(map(tool_name, member.tools))}"] if member.tools else []
    details += [f"reads {_joined(member.shelves)}"] if member.shelves else []
    details += [f"{member.timeout_seconds:g} s"] if member.timeout_seconds is not None else []
    instructions = f": {member.instructions}" if member.instructions else ""
    return f"{member.name or member.key} ({'; '.join(details)}){instructions}"


def _round(entry: Round) -> str:
    details = [entry.kind.value] if entry.kind is RoundKind.OWN else []
    details += ["anonymous"] if entry.anonymous else []
    details += ["sees claims"] if entry.sees_claims else []
    details += [f"only {_joined(entry.speakers)}"] if entry.speakers else []
    details_text = f" ({'; '.join(details)})" if details else ""
    instructions = f": {entry.instructions}" if entry.instructions else ""
    return f"{entry.name}{details_text}{instructions}"


def documents(folder: "CouncilFolder", listed: "Sequence[Listed]") -> Iterator[Block]:
    """List the linked folders and the files, and under each that is not indexed why."""
    for path in folder.folders:
        gone = "" if path.is_dir() else "  is not there; what was read of it before stays"
        yield verbatim(("linked  ", Style.QUIET), (one_line(str(path)), Style.STRONG), gone)
    if listed:
        yield from render_personas.documents(listed)
    else:
        yield verbatim(
            f"No documents. Drop some into {DOCS}/, or link a folder: "
            f"chapterhouse council docs link {folder.slug} PATH"
        )


def linked(value: "Link", *, dry_run: bool) -> Iterator[Block]:
    """Say that a folder is linked and what was read."""
    title, written = value.folder.council.title, one_line(value.written)
    if not value.changed:
        yield verbatim(f"{written} is linked to {title} already.")
    else:
        verb = "Would link" if dry_run else "Linked"
        yield verbatim(f"{verb} {written} to {title}.")
    yield from render_personas.refresh(value.refresh, dry_run=dry_run)


def unlinked(value: "Link", again: str, reopening: str, *, dry_run: bool) -> Iterator[Block]:
    """Say that a folder is linked no longer, what left the library, and how to undo it."""
    verb = "Would unlink" if dry_run else "Unlinked"
    yield verbatim(f"{verb} {one_line(value.written)} from {value.folder.council.title}.")
    yield from render_personas.refresh(value.refresh, dry_run=dry_run)
    if not dry_run:
        back = f"{again} {shlex.quote(value.written)}{reopening}"
        yield verbatim(f"The files stay where they are. Link it again with: {one_line(back)}")


def _joined(names: Iterator[str] | Sequence[str]) -> str:
    return ", ".join(names)
