"""The file of a council: what cannot be read of it is named, all at once."""

import os
from pathlib import Path

import pytest

from chapterhouse.agents.council import check_parsed, parse_council, read_council
from chapterhouse.agents.definition import MAXIMUM_BYTES
from chapterhouse.agents.problems import (
    Code,
    CouncilConfigError,
    Problem,
    References,
)
from chapterhouse.store.definitions import FolderDefinitions
from chapterhouse.types.personas import COUNCIL_MARKS

WHOLE = '"slug": "berths", "members": [{"persona": "maria"}], "rounds": ["independent_analysis"]'


@pytest.mark.parametrize(
    ("text", "path", "code", "said"),
    [
        ("{", (), Code.NOT_JSON, "line 1, column 2"),
        ('{"slug": "x",}', (), Code.NOT_JSON, "line 1"),
        ("[]", (), Code.NOT_JSON, "no object"),
        ("null", (), Code.NOT_JSON, "no object"),
        ('"x"', (), Code.NOT_JSON, "no object"),
        ('{"parallel": NaN}', (), Code.NOT_JSON, "NaN"),
        ('{"round_timeout_seconds": 1e999}', (), Code.NOT_JSON, "too large"),
        ('{"parallel": ' + "1" * 5_000 + "}", (), Code.NOT_JSON, "digits"),
        ("[" * 100_000, (), Code.NOT_JSON, "recursion"),
        ("{}", ("slug",), Code.MISSING, "'slug' is missing"),
        ('{"slug": 1}', ("slug",), Code.TYPE, "text in double quotes, not 1"),
        ('{"slug": "x", "tools": "y"}', ("tools",), Code.TYPE, "a list"),
        ('{"slug": "x", "tools": ["y", 2]}', ("tools", 1), Code.TYPE, "not 2"),
        ('{"slug": "x", "members": ["maria"]}', ("members", 0), Code.TYPE, "persona"),
        ('{"slug": "x", "chair": "maria"}', ("chair",), Code.TYPE, "persona"),
        ('{"slug": "x", "rounds": [3]}', ("rounds", 0), Code.TYPE, "a name"),
        ('{"slug": "x", "rounds": [{}]}', ("rounds", 0, "name"), Code.MISSING, "missing"),
        ('{"slug": "x", "parallel": 1.5}', ("parallel",), Code.TYPE, "a whole number"),
        ('{"slug": "x", "parallel": true}', ("parallel",), Code.TYPE, "not true"),
        (
            '{"slug": "x", "members": [{"timeout_seconds": "9"}]}',
            ("members", 0, "timeout_seconds"),
            Code.TYPE,
            "a number",
        ),
        ('{"slug": "x", "membres": []}', ("membres",), Code.UNKNOWN, "no key 'membres'"),
        ('{"slug": "x", "chaired_by": {}}', ("chaired_by",), Code.UNKNOWN, "no key"),
        (
            '{"slug": "x", "members": [{"personna": "m"}]}',
            ("members", 0, "personna"),
            Code.UNKNOWN,
            "no key 'personna'",
        ),
        ('{"slug": "x", "slug": "y"}', ("slug",), Code.DUPLICATE, "twice"),
        (
            '{"slug": "x", "members": [{}, {"name": "a", "name": "a"}]}',
            ("members", 1, "name"),
            Code.DUPLICATE,
            "twice",
        ),
        (r'{"slug": "x", "purpose": "\ud800"}', ("purpose",), Code.TYPE, "half"),
        (r'{"slug": "x", "\ud800": 1}', (), Code.TYPE, "half"),
    ],
)  # fmt: skip
def test_each_fault_is_named_at_its_place(
    text: str, path: tuple[str | int, ...], code: Code, said: str
) -> None:
    problem = parse_council(text).problems[0]
    assert (problem.path, problem.code) == (path, code)
    assert said in problem.sentence
    assert problem.hint
    with pytest.raises(CouncilConfigError):
        parse_council(text).required()


def test_the_nearest_key_is_suggested() -> None:
    def hint(text: str) -> str:
        return parse_council(text).problems[0].hint

    assert hint('{"slug": "x", "membres": []}') == "Did you mean 'members'?"
    assert "Did you mean 'timeout_seconds'?" in hint(
        '{"slug": "x", "members": [{"timeout_second": 9}]}'
    )
    assert hint('{"slug": "x", "rounds": [{"name": "y", "speaker": ["x"]}]}').count("speakers")
    gone = hint('{"slug": "x", "rounds": [{"name": "rebuttal", "anonymous": true}]}')
    assert gone == "Members see whose statements they answer: leave it out."
    assert "There are: " in hint('{"slug": "x", "zzz": 1}')


def test_what_follows_from_a_fault_is_not_told_besides() -> None:
    broken = '{"slug": "berths", "members": "maria", "rounds": ["synthesis", 4], "tools": [1, ""]}'
    found = [(entry.path, entry.code) for entry in problems_of(broken)]
    assert found == [
        (("members",), Code.TYPE),
        (("rounds", 1), Code.TYPE),
        (("tools", 0), Code.TYPE),
        (("tools", 1), Code.EMPTY),
        (("rounds", 0), Code.ORDER),
        (("rounds", 0), Code.ORDER),
        (("chair",), Code.NO_CHAIR),
    ]


def problems_of(text: str) -> tuple[Problem, ...]:
    return check_parsed(parse_council(text), "berths", References())


def test_form_and_meaning_are_told_at_once() -> None:
    text = "{" + WHOLE + ', "parallel": 0, "colour": "red", "options": ["yes"]}'
    found = {(entry.place, entry.code) for entry in problems_of(text)}
    assert found == {
        ("colour", Code.UNKNOWN),
        ("parallel", Code.RANGE),
        ("options", Code.RANGE),
        ("rounds", Code.NO_SYNTHESIS),
    }
    assert {entry.slug for entry in problems_of(text)} == {"berths"}


def test_an_entry_that_cannot_be_read_leaves_the_others_at_their_place() -> None:
    parsed = parse_council('{"slug": "x", "members": [7, {"persona": "maria"}]}')
    assert parsed.council
    assert [member.persona for member in parsed.council.members] == ["", "maria"]


def test_files_that_are_no_text(tmp_path: Path) -> None:
    councils = FolderDefinitions(tmp_path, COUNCIL_MARKS)
    path = tmp_path / "berths" / "council.json"
    path.parent.mkdir()
    assert read_council(councils, "berths").problems[0].code is Code.UNREADABLE
    path.write_bytes(b'{"slug":\n "\xff"}')
    assert "line 2" in read_council(councils, "berths").problems[0].sentence
    path.write_bytes(b"\xef\xbb\xbf{" + WHOLE.encode() + b"}")
    assert read_council(councils, "berths").required().slug == "berths"
    path.write_bytes(b" " * (MAXIMUM_BYTES + 1))
    assert "more than" in read_council(councils, "berths").problems[0].sentence
    path.unlink()
    path.mkdir()
    assert read_council(councils, "berths").problems[0].code is Code.UNREADABLE
    path.rmdir()
    os.mkfifo(path)  # it would keep a reader waiting
    assert read_council(councils, "berths").problems[0].code is Code.UNREADABLE
