"""The file of a council: what cannot be read of it is named, all at once."""

import os
from pathlib import Path

import pytest

from chapterhouse.agents.council import Council, check_parsed, council_schema
from chapterhouse.agents.definition import (
    MAXIMUM_BYTES,
    Parsed,
    parse_definition,
    parsed_in_folder,
    read_definition,
)
from chapterhouse.agents.problems import (
    Code,
    CouncilConfigError,
    References,
)
from chapterhouse.store.definitions import COUNCIL_MARKS, Definitions

WHOLE = '"slug": "berths", "members": [{"persona": "maria"}], "rounds": ["independent_analysis"]'


def parse(text: str) -> Parsed[Council]:
    return parse_definition(text, council_schema())


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
        ('{"slug": "x", "tools": [["x"]]}', ("tools", 0), Code.TYPE, "text in double quotes"),
        ('{"slug": "x", "tools": [{"corpus": "p"}]}', ("tools", 0, "corpus"), Code.TYPE, "object"),
        ('{"slug": "x", "tools": [{"mcp": {}}]}', ("tools", 0, "mcp"), Code.UNKNOWN, "any more"),
        ('{"slug": "x", "chair": {"tools": [{"corpus": {"top_k": "3"}}]}}',
         ("chair", "tools", 0, "corpus", "top_k"), Code.TYPE, "whole number"),
        ('{"slug": "x", "members": [{"tools": [{"corpus": {"folder": 3}}]}]}',
         ("members", 0, "tools", 0, "corpus", "folder"), Code.TYPE, "text in double quotes"),
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
    problem = parse(text).problems[0]
    assert (problem.path, problem.code) == (path, code)
    assert said in problem.sentence
    assert problem.hint
    with pytest.raises(CouncilConfigError):
        parse(text).required()


def test_the_nearest_key_is_suggested() -> None:
    def hint(text: str) -> str:
        return parse(text).problems[0].hint

    assert hint('{"slug": "x", "membres": []}') == "Did you mean 'members'?"
    assert "Did you mean 'timeout_seconds'?" in hint(
        '{"slug": "x", "members": [{"timeout_second": 9}]}'
    )
    assert hint('{"slug": "x", "tools": [{"corpse": {}}]}') == "Did you mean 'corpus'?"
    assert "'top_k'" in hint('{"slug": "x", "tools": [{"corpus": {"topk": 3}}]}')
    assert hint('{"slug": "x", "rounds": [{"name": "y", "speaker": ["x"]}]}').count("speakers")
    gone = hint('{"slug": "x", "rounds": [{"name": "rebuttal", "anonymous": true}]}')
    assert gone == "Members see whose statements they answer: leave it out."
    assert "There are: " in hint('{"slug": "x", "zzz": 1}')


def test_all_of_the_form_is_told_before_the_meaning() -> None:
    def told(text: str) -> list[tuple[str, Code]]:
        found = check_parsed(parsed_in_folder(parse(text), "berths"), "berths", References())
        assert {one.slug for one in found} == {"berths"}
        return [(one.place, one.code) for one in found]

    assert told("{" + WHOLE + ', "parallel": 0, "colour": "red", "chair": {"name": 3}}') == [
        ("parallel", Code.RANGE),
        ("colour", Code.UNKNOWN),
        ("chair.name", Code.TYPE),
    ]
    assert told("{" + WHOLE + ', "options": ["yes"]}') == [
        ("options", Code.RANGE),
        ("rounds", Code.NO_SYNTHESIS),
    ]


def test_files_that_are_no_text(tmp_path: Path) -> None:
    def read() -> Parsed[Council]:
        return read_definition(Definitions(tmp_path, COUNCIL_MARKS), "berths", council_schema())

    path = tmp_path / "berths" / "council.json"
    path.parent.mkdir()
    assert read().problems[0].code is Code.UNREADABLE
    path.write_bytes(b'{"slug":\n "\xff"}')
    assert "line 2" in read().problems[0].sentence
    path.write_bytes(b"\xef\xbb\xbf{" + WHOLE.encode() + b"}")
    assert read().required().slug == "berths"
    path.write_bytes(b" " * (MAXIMUM_BYTES + 1))
    assert "more than" in read().problems[0].sentence
    path.unlink()
    path.mkdir()
    assert read().problems[0].code is Code.UNREADABLE
    path.rmdir()
    os.mkfifo(path)  # it would keep a reader waiting
    assert read().problems[0].code is Code.UNREADABLE
