"""The page about councils names every key, every code and every template."""

import json
import re
from dataclasses import fields
from pathlib import Path

from chapterhouse.agents.council import Council, check_council, parse_council
from chapterhouse.agents.council_model import Member, Round
from chapterhouse.agents.problems import Code
from chapterhouse.agents.templates import COUNCIL_TEMPLATES

PAGE = (Path(__file__).parents[2] / "docs" / "councils.md").read_text("utf-8")


def first_cells(heading: str, until: str) -> list[str]:
    part = PAGE.partition(heading)[2].partition(until)[0]
    return re.findall(r"^\| `([a-z_-]+)`", part, re.MULTILINE)


def test_every_code_is_documented() -> None:
    shown = first_cells("## See what is wrong", "## Every key")
    assert sorted(shown) == sorted(code.value for code in Code)


def test_every_key_is_documented() -> None:
    def named(kind: type) -> list[str]:
        return ["chair" if f.name == "chaired_by" else f.name for f in fields(kind)]

    assert first_cells("## Every key", "Of a member") == named(Council)
    assert first_cells("Of a member", "Of a round") == named(Member)
    assert first_cells("Of a round", "## From Python") == named(Round)


def test_every_template_is_documented() -> None:
    assert first_cells("## Make one by hand", "## Choose the members") == list(COUNCIL_TEMPLATES)


def test_the_council_shown_can_meet() -> None:
    shown = re.search(r"```json\n(.*?)```", PAGE, re.DOTALL)
    assert shown
    council = parse_council(shown[1]).required()
    assert check_council(council) == ()
    assert json.loads(council.to_json()) == json.loads(shown[1])
