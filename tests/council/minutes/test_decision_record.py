"""Decision records: Markdown that stands by itself and says what was and was not decided."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from chapterhouse.council.minutes.decision_record import decision_record
from chapterhouse.council.minutes.outline import minutes_markdown as markdown
from chapterhouse.types import Absence, Minutes

GOLDEN = Path(__file__).parent / "golden"


def test_a_decision_record_stands_by_itself(minutes: Minutes) -> None:
    record = decision_record(minutes, 7, "2026-11-22")
    assert record == (GOLDEN / "record.md").read_text("utf-8")
    assert record.startswith("# 7. Shall guests pay more from 2027?\n\n- Status: proposed\n")
    assert "- Date: 2026-11-22\n" in record
    assert "Date:" not in decision_record(minutes)
    cited = set(re.findall(r"\[\^([0-9-]+)\](?!:)", record))
    assert cited == set(re.findall(r"^\[\^([0-9-]+)\]:", record, re.MULTILINE))


def test_who_never_spoke_was_not_consulted(minutes: Minutes) -> None:
    silent = tuple(said for said in minutes.statements if said.member != "tom")
    away = (*minutes.absences, Absence("tom", "independent_analysis", "no answer\n- Deciders: Tom"))
    record = decision_record(replace(minutes, statements=silent, absences=away))
    assert "\n- Consulted: Maria Lind, Finance\n" in record
    absent = next(line for line in record.splitlines() if line.startswith("- Absent: "))
    assert absent.startswith(
        "- Absent: Maria Lind, Cross-examination: no answer within 30 s; Tom, "
    )
    assert "\n- Deciders: Tom" not in record
    nobody = decision_record(replace(minutes, statements=(), absences=()))
    assert "Consulted" not in nobody
    assert "Absent" not in nobody


@pytest.mark.parametrize("changes", [{"decided": ""}, {"decision": (), "options": ()}])
def test_a_record_of_what_was_not_decided_is_open(
    minutes: Minutes, changes: dict[str, object]
) -> None:
    record = decision_record(replace(minutes, **changes))  # type: ignore[arg-type]  # of minutes
    assert "- Status: open\n" in record
    assert ("It stays open." in record) == ("decided" in changes)


def test_empty_minutes_speak_of_a_decision_only_where_one_was_asked_for(empty: Minutes) -> None:
    page = markdown(empty)
    assert page.startswith("# berths\n\n**What then?**\n")
    assert "Decided: **stays open**" in markdown(replace(empty, options=("stay", "go")))
    for title in ("Decision", "matrix", "Disputes", "Dissent", "What was said", "Warnings"):
        assert title not in page
    assert "Nothing was decided." in decision_record(empty)
