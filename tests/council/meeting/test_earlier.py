"""A council that is asked again after its documents changed."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.council.agreements import ASKED, TERMS, agreement, readers, shelve
from tests.council.conftest import Hall

from chapterhouse.council.minutes.bundle import minutes_json, read_minutes
from chapterhouse.errors import UsageError
from chapterhouse.types import ChangeKind, LapseReason, Minutes, MinutesChanges

DOGS = "# Dogs\n\nDogs are kept on a lead in the yard.\n"


@pytest.fixture
def office(bare_hall: Hall) -> Hall:
    """Three agreements, each on the shelf of a member of a council that has a folder."""
    texts = {name: {"nda.md": agreement(name.title(), TERMS[name])} for name in TERMS}
    for name in TERMS:
        texts[name]["dogs.md"] = f"{DOGS}\nThe dog is called {name}.\n"
    shelve(bare_hall, texts)
    bare_hall.library.councils.create(readers(*TERMS))
    return bare_hall


def held(hall: Hall, **more: object) -> Minutes:
    return hall.convene("readers", ASKED, transcript=None, **more)


def write(hall: Hall, shelf: str, name: str, text: str) -> None:
    folder = hall.folder / f"papers-{shelf}"
    (folder / name).write_text(text, "utf-8")
    hall.library.documents.add(folder, shelf=shelf)


def change(hall: Hall) -> None:
    """Change one agreement, and add a newer version of another."""
    write(hall, "alder", "nda.md", agreement("Alder", "six years"))
    write(hall, "birch", "nda-2026.md", agreement("Birch", "nine years", "2026-02-01"))


def transcripts(hall: Hall) -> list[Path]:
    return sorted((hall.library.home / "councils" / "readers" / "meetings").iterdir())


def test_where_nothing_changed_nothing_is_told(office: Hall) -> None:
    first = held(office)
    again = held(office, since="LAST")
    assert (first.changes, again.changes) == (None, MinutesChanges())
    assert first.warnings == again.warnings == ()


def test_what_changed_is_told_with_the_document_behind_it(office: Hall) -> None:
    first = held(office)
    change(office)
    for now in (held(office, since="LAST"), held(office, since=first)):
        assert now.changes is not None
        assert now.warnings == ()
        kinds = {one.member: one.kind for one in now.changes.positions}
        assert kinds == {
            "alder": ChangeKind.CHANGED,
            "birch": ChangeKind.CHANGED,
        }
        lapsed = {one.members[0]: one.lapses[0] for one in now.changes.lapsed}
        assert lapsed["alder"].reason is LapseReason.CHANGED
        assert lapsed["birch"].reason is LapseReason.NEWER_VERSION
        assert lapsed["birch"].newer == "papers-birch/nda-2026.md"
        assert read_minutes(minutes_json(now)) == now


def test_a_warning_says_what_no_longer_holds(office: Hall) -> None:
    held(office)
    change(office)
    warned, again = held(office), held(office)
    (warning,) = warned.warnings
    assert "papers-alder/nda.md has changed and no longer says so" in warning
    assert minutes_json(again) == minutes_json(warned)  # a meeting that is shown again is the same


def test_a_document_that_says_nothing_of_it_warns_of_nothing(office: Hall) -> None:
    held(office)
    write(office, "alder", "cats.md", "# Cats\n\nThe cat sleeps in the bakery.\n")
    now = held(office)
    assert (len(transcripts(office)), now.warnings) == (2, ())
    changes = held(office, since="LAST").changes
    assert changes is not None
    assert not changes
    assert [(one.member, one.before, one.now) for one in changes.counts] == [("alder", 2, 3)]


def test_the_last_meeting_is_the_newest_other_one(office: Hall) -> None:
    held(office)
    change(office)
    held(office)
    assert held(office, since="LAST").changes  # it is shown again, and compared with the first
    assert held(office, since="LAST", fresh=True).changes == MinutesChanges()


@pytest.mark.parametrize("torn", ["", "x\n", '{"minutes": {"council": 1}}\n', '{"minutes": '])
def test_transcripts_that_are_damaged_or_unfinished_are_none(office: Hall, torn: str) -> None:
    held(office)
    (path,) = transcripts(office)
    heading, *_ = path.read_text("utf-8").splitlines(keepends=True)
    path.write_text(heading + torn, "utf-8")
    (path.with_name("other.ndjson")).write_text("[]\n", "utf-8")
    change(office)
    with pytest.raises(UsageError, match="no earlier minutes of the council readers"):
        held(office, since="LAST")
    assert held(office).warnings == ()


def test_a_transcript_is_not_believed(office: Hall) -> None:
    """What it says was verified is looked up again."""
    held(office)
    (path,) = transcripts(office)
    *lines, last = path.read_text("utf-8").splitlines()
    fields = json.loads(last)
    for citation in fields["minutes"]["citations"]:
        citation["quote"] = "The obligations of confidentiality shall never end."
    path.write_text("\n".join((*lines, json.dumps(fields))) + "\n", "utf-8")
    write(office, "alder", "cats.md", "# Cats\n\nThe cat sleeps in the bakery.\n")
    changes = held(office, since="LAST").changes
    assert changes is not None
    assert {one.before.text for one in changes.positions} == {
        one["text"] for one in fields["minutes"]["reading"]["positions"]
    }
    assert not changes.lapsed  # the same is concluded now, from what does stand there


def test_minutes_of_others_cannot_be_compared(office: Hall) -> None:
    with pytest.raises(UsageError, match="no earlier minutes"):
        held(office, since="LAST")
    assert not (office.library.home / "councils" / "readers" / "meetings").exists()
    first = held(office)
    with pytest.raises(UsageError, match="of another question: “How long"):
        office.convene("readers", "What is the dog called?", since=first)
    office.library.councils.create(replace(readers("alder"), slug="lone"))
    with pytest.raises(UsageError, match="of the council 'readers', not of 'lone'"):
        office.convene("lone", ASKED, since=first)
