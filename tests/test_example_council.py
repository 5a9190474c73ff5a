"""The example's council: its minutes hold what was planted, and nothing false.

No model is asked: the documents are quoted on each thing that is asked.
"""

import runpy
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest

from chapterhouse import Library
from chapterhouse.interfaces.cli import main
from chapterhouse.types import Citation, Minutes

EXAMPLES = Path(__file__).parent.parent / "examples"
MATTER = (
    "Should the late sailing to Osk start on 3 April 2026? How many passengers are expected? "
    "How many more masters do we need to hire? How many passengers may MV Teal carry under amber?"
)
EXPECTED = (
    "On an average Friday or Saturday night we expect 52 passengers on a ferry leaving "
    "Varnholm Town at 23:30."
)
ONE_MASTER = (
    "After that we need one more master and two more deckhands, and we would rather train our own "
    "people than hire for the season."
)
TWO_MASTERS = "We need two more masters, not one."
TEAL_OLD = (
    "Under amber, MV Teal carries at most 120 passengers, which is her certified number, and no "
    "vehicles higher than 2.2 metres."
)
TEAL_NEW = (
    "Under amber, MV Teal carries at most 90 passengers and no vehicles higher than 2.2 metres."
)


def furnished(folder: Path) -> Path:
    (folder / "examples").symlink_to(EXAMPLES)
    home = folder / ".demo"
    for name in ("personas", "councils"):
        shutil.copytree(EXAMPLES / name, home / name)
    return home


@dataclass(frozen=True)
class Meeting:
    minutes: Minutes
    library: Library

    def cited(self, numbers: tuple[int, ...]) -> tuple[Citation, ...]:
        by_number = {citation.number: citation for citation in self.minutes.citations}
        return tuple(by_number[number] for number in numbers)

    def stands(self, numbers: tuple[int, ...]) -> bool:
        return bool(numbers) and all(
            citation.verified
            and self.library.documents.body(citation.document_id).text[
                citation.start : citation.end
            ]
            == citation.quote
            for citation in self.cited(numbers)
        )

    def cells(self, asked: str) -> dict[str, str]:
        (row,) = [row for row in self.minutes.table if row.asked.startswith(asked)]
        return {cell.member: cell.text for cell in row.cells}


@pytest.fixture(scope="module")
def meeting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Meeting]:
    # The whole checkout lies in one place, so that relative folders lead to the example.
    with Library.open(furnished(tmp_path_factory.mktemp("checkout"))) as library:
        assert not library.personas.validate()
        assert not library.councils.validate()
        yield Meeting(library.councils.convene("late-sailing", MATTER), library)


def test_everyone_speaks_from_what_they_read(meeting: Meeting) -> None:
    minutes = meeting.minutes
    assert [seat.title for seat in minutes.members] == [
        "Marcus Ehde",
        "Helene Okoro",
        "Tomas Brandvik",
    ]
    assert not minutes.absences
    assert not minutes.warnings
    assert (minutes.rounds, minutes.turns) == ((), ())  # nobody argues without a model
    own = {
        seat.key: {Path(document.source).name for document in documents}
        for seat in minutes.members
        for documents in [meeting.library.documents.list(seat.shelves)]
    }
    shared = {"demand-study-2025.txt", "position-late-sailing.md"}
    assert own["operations"] & own["finance"] & own["safety"] == shared
    assert "severe-weather-policy-2023.md" in own["operations"] - own["safety"]
    assert "severe-weather-policy-2025.md" in own["safety"] - own["operations"]


def test_every_citation_stands_in_the_store(meeting: Meeting) -> None:
    assert meeting.stands(tuple(citation.number for citation in meeting.minutes.citations))
    assert all(check.holds for check in meeting.library.councils.recheck(meeting.minutes))
    quoted = [cell for row in meeting.minutes.table for cell in row.cells if cell.text]
    assert quoted
    assert all(meeting.stands(cell.citations) for cell in quoted)


def test_what_was_planted_stands_in_the_table(meeting: Meeting) -> None:
    """The cells whose documents speak of it, judged by hand."""
    expected = meeting.cells("How many passengers are")
    assert "52 passengers" in expected["operations"]
    assert EXPECTED in expected["finance"]
    masters = meeting.cells("How many more")
    assert (masters["operations"], masters["safety"]) == (ONE_MASTER, TWO_MASTERS)
    amber = meeting.cells("How many passengers may")
    assert amber["operations"].startswith(TEAL_OLD)
    assert amber["safety"].startswith(TEAL_NEW)
    years = {
        cell.member: meeting.cited(cell.citations)[0].year
        for cell in meeting.minutes.table[-1].cells
    }
    assert (years["operations"], years["safety"]) == ("2023", "2025")
    start = meeting.cells("Should")
    assert start["operations"].startswith("From 3 April 2026 a late ferry should leave")
    assert "unless the regional transport board pays" in start["finance"]
    assert "We oppose starting it on 3 April 2026." in start["safety"]


def test_the_demo_ends_with_the_council_and_writes_nothing_beside_its_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def run_here(command: list[str], **_: object) -> SimpleNamespace:
        return SimpleNamespace(returncode=main(command[3:]))  # quicker than a process for each

    shutil.copytree(EXAMPLES, tmp_path / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    before = _files(tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("subprocess.run", run_here)
    runpy.run_path(str(tmp_path / "examples" / "demo.py"), run_name="__main__")
    done = capfd.readouterr()
    assert _files(tmp_path / "examples") == before
    assert {path.name for path in tmp_path.iterdir()} == {"examples", ".demo"}
    _, _, council = done.out.partition("--- 4. A council")
    places = [
        council.index(text)
        for text in (
            "chapterhouse council new contracts",
            "Fuel supply agreement 2024: The agreement runs until 31 December 2027.",
            "Lease of the pier house: The lease began on 1 July 2023 and ends on 30 June 2028.",
            "chapterhouse convene late-sailing",
            TEAL_OLD,
            TEAL_NEW,
            "[1] Severe Weather Policy (2023), §Passenger limits under amber",
            "--- Next ---",
        )
    ]
    assert places == sorted(places)
    assert done.err == ""
    shown = council[: places[-1]].splitlines()
    assert sum(max(1, -(-len(line) // 100)) for line in shown) <= 80  # two screens
    next_steps = council[places[-1] :]
    assert all(len(line) <= 80 for line in next_steps.splitlines())


def _files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
