"""The command that repairs a library, and what people see of its faults."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from chapterhouse.interfaces.cli.options import DryRun, Yes, common
from chapterhouse.interfaces.cli.progress import show_progress
from chapterhouse.interfaces.cli.session import (
    FAILED,
    OK,
    PARTLY,
    Outcome,
    library_class,
    named_home,
    require_yes,
)
from chapterhouse.interfaces.cli.terminal import one_line
from chapterhouse.presenting.blocks import Block, Style, verbatim
from chapterhouse.text.counting import counted
from chapterhouse.types import Finding, Remedy, RepairReport, Verification

_SHOWN: Final = 40  # findings that are listed
_REMEDIES: Final = {
    Remedy.REINDEX: "build the index again",
    Remedy.REREAD: "read the document again, from its stored bytes or its file",
    Remedy.RESTORE: "take the bytes from the file again",
    Remedy.DROP: "delete what belongs to nothing, or correct it",
    Remedy.FORGET: "forget the file, and read it again",
    Remedy.REBUILD: "write the database anew from what can be read of it",
    Remedy.NONE: "",
}


def repair(*, dry_run: DryRun = False, yes: Yes = False) -> Outcome:
    """Repair what “chapterhouse verify” finds.

    Indexes are built again, damaged documents are read again from their stored bytes or their
    files, lost bytes are taken from the files, and what belongs to nothing is deleted. A damaged
    database is written anew from what can be read of it; the damaged file stays where it was,
    under another name.

    Exit code 4 says that something is left; it is listed with the reason.
    """
    kind, home, workspace = library_class(), named_home(), common().workspace
    with show_progress() as show:
        found = kind.verify(home, workspace, on_progress=show)
    if dry_run:
        return Outcome({**verified(found), "dry_run": True}, _show_plan(found))
    if not found.findings:
        return Outcome(_repaired(RepairReport(())), show_findings(found))
    if not yes:
        count = counted(len(found.findings), "fault")
        require_yes(
            f"Repair {count} of the library",
            needed=f"Repairing {count} needs to be confirmed.",
            refused="Nothing was repaired.",
            listed=[one.sentence for one in found.findings[:_SHOWN]],
        )
    with show_progress() as show:
        report = kind.repair(home, workspace, found=found, on_progress=show)
    return Outcome(_repaired(report), _show_repaired(report), PARTLY if report.left else OK)


def library_outcome(*, quick: bool) -> Outcome:
    """Return what verifying the library that the common options name comes to."""
    with show_progress() as show:
        found = library_class().verify(
            named_home(), common().workspace, quick=quick, on_progress=show
        )
    return Outcome(verified(found), show_findings(found), FAILED if found.findings else OK)


def verified(found: Verification) -> dict[str, object]:
    """Return what was found, for programs."""
    return {
        "sound": not found.findings,
        "quick": found.quick,
        "counts": found.counts,
        "findings": found.findings,
    }


def show_findings(found: Verification) -> Iterator[Block]:
    """Show what was looked at, and each fault with what helps."""
    yield from _listed(found.findings)
    looked = ", ".join(f"{number:,} {what}" for what, number in found.counts.items())
    left_out = " Hashes of bytes were left out." if found.quick else ""
    yield verbatim(f"Looked at: {looked or 'the database alone'}.{left_out}")
    if not found.findings:
        yield verbatim(("The library is sound.", Style.GOOD))
        return
    yield verbatim((f"{counted(len(found.findings), 'fault')}.", Style.BAD))
    if any(one.remedy is not Remedy.NONE for one in found.findings):
        yield verbatim("See what can be repaired: chapterhouse repair --dry-run")


def _listed(findings: Sequence[Finding]) -> Iterator[Block]:
    for one in findings[:_SHOWN]:
        yield verbatim(("FAULT ", Style.BAD), (one.part, Style.STRONG), f": {_line(one)}")
        if help_ := _REMEDIES[one.remedy] or one.hint:
            yield verbatim((f"to do: {one_line(help_)}", Style.QUIET), indent=6)
    if len(findings) > _SHOWN:
        yield verbatim(f"... and {len(findings) - _SHOWN:,} more: see --json.")


def _line(one: Finding) -> str:
    return one_line(one.sentence)


def _show_plan(found: Verification) -> Iterator[Block]:
    yield from _listed(found.findings)
    number = sum(one.remedy is not Remedy.NONE for one in found.findings)
    rest = len(found.findings) - number
    by_hand = f", and leave {rest} to you" if rest else ""
    yield verbatim(f"Would try to repair {counted(number, 'fault')}{by_hand}.")


def _repaired(report: RepairReport) -> Mapping[str, object]:
    return {
        "repaired": report.repaired,
        "left": report.left,
        "damaged_copy": report.damaged_copy,
        "lost": report.lost,
        "dry_run": False,
    }


def _show_repaired(report: RepairReport) -> Iterator[Block]:
    for one in report.repaired[:_SHOWN]:
        yield verbatim(("repaired ", Style.GOOD), (one.part, Style.STRONG), f": {_line(one)}")
    for left in report.left[:_SHOWN]:
        finding = left.finding
        yield verbatim(("LEFT ", Style.BAD), (finding.part, Style.STRONG), f": {_line(finding)}")
        yield verbatim((one_line(left.reason), Style.QUIET), indent=6)
    if report.lost:
        rows = ", ".join(f"{number:,} of {table}" for table, number in report.lost.items())
        yield verbatim(f"Rows that could not be read: {rows}.")
    if report.damaged_copy:
        yield verbatim(f"The damaged database is {report.damaged_copy}.")
        yield verbatim("It holds texts of your documents. Delete it when you do not need it.")
    left_over = f", {len(report.left)} left" if report.left else ""
    yield verbatim(f"{counted(len(report.repaired), 'fault')} repaired{left_over}.")
