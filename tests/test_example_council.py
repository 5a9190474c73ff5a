"""The example's council: its minutes hold what was planted, and nothing false.

No model is asked: the documents are read, aspect by aspect.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from chapterhouse import Library
from chapterhouse.council.minutes.bundle import minutes_json
from chapterhouse.types import (
    Citation,
    Minutes,
    Position,
    PositionKind,
    PositionRelation,
)

EXAMPLES = Path(__file__).parent.parent / "examples"
MATTER = (
    "Should the late sailing to Osk start on 3 April 2026? How many passengers are expected? "
    "How many more masters do we need to hire? How many passengers may MV Teal carry under amber?"
)
APRIL = "a trial of twelve months from 3 April 2026"
SUMMER = "a trial of three months on Saturdays, June to August 2026"
SEPTEMBER = "a start on 1 September 2026, under conditions"
EXPECTED = (
    "On an average Friday or Saturday night we expect 52 passengers on a ferry leaving "
    "Varnholm Town at 23:30."
)
IN_OWN_WORDS = (
    (
        "The demand study expects 52 passengers on an average late sailing, which is 43 per cent "
        "of what MV Teal may carry."
    ),
    (
        "Like everyone else we use the demand study's 52 passengers a sailing, and the loss "
        "remains even so."
    ),
    (
        "With 52 passengers, as the demand study expects, MV Teal can be evacuated in under nine "
        "minutes with four crew."
    ),
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
    """Return a home folder with the example's council, beside which the example lies."""
    (folder / "examples").symlink_to(EXAMPLES)
    home = folder / ".demo"
    for name in ("personas", "councils"):
        shutil.copytree(EXAMPLES / name, home / name)
    return home


@dataclass(frozen=True)
class Meeting:
    """Minutes, and the library that they can be looked up in."""

    minutes: Minutes
    library: Library

    def cited(self, numbers: tuple[int, ...]) -> tuple[Citation, ...]:
        by_number = {citation.number: citation for citation in self.minutes.citations}
        return tuple(by_number[number] for number in numbers)

    def stands(self, numbers: tuple[int, ...]) -> bool:
        """Whether there are such citations, and each stands in the store to the character."""
        return bool(numbers) and all(
            citation.verified
            and self.library.documents.body(citation.document_id).text[
                citation.start : citation.end
            ]
            == citation.quote
            for citation in self.cited(numbers)
        )

    def position(self, aspect: str, member: str) -> Position:
        """Return what a member's documents say on the aspect that begins with some words."""
        (key,) = [one.id for one in self.minutes.reading.aspects if one.text.startswith(aspect)]
        cells = self.minutes.reading.positions
        return next(cell for cell in cells if (cell.aspect, cell.member) == (key, member))


@pytest.fixture(scope="module")
def meeting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Meeting]:
    # The whole checkout lies in one place, so that relative folders lead to the example.
    with Library.open(furnished(tmp_path_factory.mktemp("checkout"))) as library:
        assert not library.personas.validate()
        assert not library.councils.validate()
        yield Meeting(library.councils.convene("late-sailing", MATTER), library)


# --- read without a model -----------------------------------------------------------------------


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
    assert spoken(meeting.minutes)
    assert all(meeting.stands(cell.citations) for cell in spoken(meeting.minutes))
    said = (*meeting.minutes.grounds, *meeting.minutes.dissent)
    assert all(meeting.stands(point.citations) for point in said)


def spoken(minutes: Minutes) -> list[Position]:
    return [cell for cell in minutes.reading.positions if cell.kind is not PositionKind.SILENT]


def test_what_was_planted_stands_in_the_table(meeting: Meeting) -> None:
    """Every cell, judged by hand."""
    told = {
        aspect: {
            member: (cell.kind.value, cell.values, cell.text)
            for member in ("operations", "finance", "safety")
            for cell in [meeting.position(aspect, member)]
        }
        for aspect in ("How many passengers are", "How many more", "How many passengers may")
    }
    silent = ("silent", (), "")
    expected, masters, amber = told.values()
    assert expected == {
        "operations": ("value", ("52",), EXPECTED),
        "finance": ("value", ("52",), EXPECTED),
        "safety": ("value", ("52",), IN_OWN_WORDS[2]),
    }
    assert masters == {
        "operations": ("value", ("one",), ONE_MASTER),
        "finance": silent,
        "safety": ("value", ("two",), TWO_MASTERS),
    }
    assert amber == {
        "operations": ("value", ("120",), TEAL_OLD),
        "finance": silent,
        "safety": ("value", ("90",), TEAL_NEW),
    }
    old, new = (meeting.position("How many passengers may", m) for m in ("operations", "safety"))
    assert old.date < new.date


def test_the_table_says_who_differs_in_what(meeting: Meeting) -> None:
    differ, agree = PositionRelation.DIFFER, PositionRelation.AGREE
    apart = (("operations",), ("safety",))
    assert [(one.relation, one.groups) for one in meeting.minutes.reading.comparisons] == [
        (differ, (("operations",), ("finance",), ("safety",))),
        (agree, (("operations", "finance", "safety"),)),
        (differ, apart),
        (differ, apart),
    ]
    start = [
        meeting.position("Should", member).kind.value
        for member in ("operations", "finance", "safety")
    ]
    assert start == ["yes", "conditional", "no"]


def test_without_a_model_nothing_is_disputed_or_given_up(meeting: Meeting) -> None:
    minutes = meeting.minutes
    assert not minutes.debated
    assert (minutes.agreement, minutes.decision) == ((), ())
    assert (minutes.dissent, minutes.open_questions) == ((), ())


def test_the_minutes_say_what_is_missing_and_from_whose_shelf(meeting: Meeting) -> None:
    gaps = [(gap.member, gap.shelf) for gap in meeting.minutes.missing if "amber" in gap.text]
    assert gaps == [("finance", "finance")]


@pytest.mark.parametrize(
    ("question", "newer", "older"),
    [
        ("Within how many days may a fare be claimed back?", "30 days", "14 days"),
        ("Up to how much may stranded passengers claim for lodging?", "75 euros", "40 euros"),
    ],
)
def test_other_questions_find_the_older_and_the_newer_policy(
    meeting: Meeting, question: str, newer: str, older: str
) -> None:
    minutes = meeting.library.councils.convene("late-sailing", question)
    cells = {cell.member: cell for cell in minutes.reading.positions}
    assert (cells["safety"].values, cells["operations"].values) == ((newer,), (older,))
    assert cells["safety"].date > cells["operations"].date
    assert minutes.reading.comparisons[0].relation is PositionRelation.DIFFER
    assert not minutes.options  # nobody asks what to choose
    assert not minutes.decision


def test_who_has_nothing_on_it_says_so_in_the_words_of_the_question(meeting: Meeting) -> None:
    """A part with "them" is searched with words of the part before; nobody asked those."""
    minutes = meeting.library.councils.convene(
        "late-sailing", "Which lights burn at Osk? Who mends them under amber?"
    )
    assert [gap.text for gap in minutes.missing if gap.member == "finance"] == [
        "Evidence on “Which lights burn at Osk”.",
        "Evidence on “Who mends them under amber”.",
    ]


def test_a_row_of_a_table_that_shares_a_word_is_no_evidence(meeting: Meeting) -> None:
    """The budget has a line for fuel for MV Teal, and one for a course of the masters."""
    finance = [cell.text for cell in spoken(meeting.minutes) if cell.member == "finance"]
    assert finance
    assert not [text for text in finance if " · " in text]


def test_everything_that_is_asked_gets_its_best_sentence(meeting: Meeting) -> None:
    own = [cell.text for cell in spoken(meeting.minutes) if cell.member == "operations"]
    assert own[0].startswith("From 3 April 2026 a late ferry should leave Varnholm Town for Osk")
    assert {EXPECTED, ONE_MASTER, TEAL_OLD} < set(own)
    assert not any("Heron" in text for text in own)  # the question names MV Teal


def test_what_no_document_speaks_of_decides_nothing(meeting: Meeting) -> None:
    minutes = meeting.library.councils.convene(
        "late-sailing", "How reliable is the plumbing of the moon?"
    )
    assert not minutes.decided
    assert minutes.reading.comparisons[0].relation is PositionRelation.SILENT
    assert [gap.member for gap in minutes.missing] == ["operations", "finance", "safety"]


def test_another_process_in_another_home_writes_the_same_bytes(
    meeting: Meeting, tmp_path: Path
) -> None:
    Library.open(furnished(tmp_path)).close()
    command = [sys.executable, "-m", "chapterhouse", "convene", "late-sailing", MATTER]
    subprocess.run(
        [*command, "--home", ".demo", "--output", "minutes.json"],
        cwd=tmp_path, env={**os.environ, "PYTHONHASHSEED": "2"}, capture_output=True, check=True,
    )  # fmt: skip
    assert (tmp_path / "minutes.json").read_text("utf-8") == minutes_json(meeting.minutes)


def test_the_demo_ends_with_the_council_and_writes_nothing_beside_its_home(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLES, tmp_path / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    before = _files(tmp_path / "examples")
    done = subprocess.run(
        [sys.executable, "-B", tmp_path / "examples" / "demo.py"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert _files(tmp_path / "examples") == before
    assert {path.name for path in tmp_path.iterdir()} == {"examples", ".demo"}
    _, _, council = done.stdout.partition("--- 4. A council")
    places = [
        council.index(text)
        for text in (
            "chapterhouse council new contracts",
            "31 December 2027 (Fuel supply agreement 2024); 1 July 2023, 30 June 2028 (Lease",
            "chapterhouse convene late-sailing",
            "They seem to differ: 120 (Marcus Ehde); 90 (Tomas Brandvik).",
            TEAL_OLD,
            TEAL_NEW,
            "[1] Severe Weather Policy › Passenger limits under amber",
            "--- Next ---",
        )
    ]
    assert places == sorted(places)
    assert done.stderr == ""
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


def test_the_copy_that_operations_kept_is_the_old_policy() -> None:
    name = "severe-weather-policy-2023.md"
    kept = EXAMPLES / "personas" / "operations" / "RAW-DOCS" / name
    assert kept.read_bytes() == (EXAMPLES / "varnholm-ferry" / "policies" / name).read_bytes()
