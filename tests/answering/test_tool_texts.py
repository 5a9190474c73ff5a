from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from chapterhouse import Library
from chapterhouse.answering.cite import text_hash
from chapterhouse.answering.tool_texts import (
    call_tool,
    tool_excerpts,
    tool_texts_of,
    with_tool_texts,
)
from chapterhouse.types import Scope, Tool, ToolPassage, ToolText

NOWHERE = Scope.of(())


def text(words: str, place: str = "", **arguments: object) -> ToolText:
    return ToolText("tides", arguments, place, words, text_hash(words))


def tool(result: str = "", **more: Any) -> Tool:
    return Tool("tides", "Call this.", {"type": "object"}, lambda _: result, **more)


def parts(found: ToolText, *, echoes: bool = True) -> list[str]:
    return [excerpt.text for excerpt in tool_excerpts(found, echoes=echoes)]


def test_a_text_has_an_id_that_no_document_can_have() -> None:
    found = text("High water at 04:12.")
    assert found.id.startswith("tool.tides.")
    assert found.id == text("High water at 04:12.", harbour="Osk").id  # whoever asked, and how
    assert len({found.id, text("High water.").id, text("High water at 04:12.", "Osk").id}) == 3


def test_texts_are_documents_that_stand_on_no_shelf(tmp_path: Path) -> None:
    with Library.open(tmp_path / "home") as library:
        library.documents.add_text("A berth costs 80 euros.", title="Tariffs")
        runtime = library._runtime
        assert with_tool_texts(runtime, ()) is runtime
        first, second = text("High water at 04:12."), text("Low water at 10:30.")
        once = with_tool_texts(runtime, (first,))
        store = with_tool_texts(once, (second, first)).store
        assert tool_texts_of(runtime) == ()
        assert tool_texts_of(with_tool_texts(once, (second, first))) == (first, second)

        (tariffs,) = library.documents.list()
        document = store.document(first.id, NOWHERE)
        assert document is not None
        assert (document.title, document.shelves) == ("tides", ())
        assert document.source == "tool tides, kept text of 20 characters"
        body = store.body(first.id, NOWHERE)
        assert body is not None
        assert body.text == first.text
        assert [chunk.text for chunk in store.chunks_of(first.id, NOWHERE)] == [first.text]
        everything = Scope.everything()
        assert {one.id for one in store.documents(everything)} == {tariffs.id, first.id, second.id}
        assert set(store.documents_among([tariffs.id, first.id, "no"], everything)) == {
            tariffs.id,
            first.id,
        }
        assert store.document(tariffs.id, NOWHERE) is None
        assert store.body(tariffs.id, everything) == runtime.store.body(tariffs.id, everything)
        assert store.chunks_of(tariffs.id, everything)
        assert store.sequence() == runtime.store.sequence()


def test_the_hash_of_a_text_is_its_own_and_not_the_one_that_is_stated(tmp_path: Path) -> None:
    forged = ToolText("tides", {}, "", "High water.", "0" * 64)
    with Library.open(tmp_path / "home") as library:
        store = with_tool_texts(library._runtime, (forged,)).store
        document = store.document(forged.id, NOWHERE)
    assert document is not None
    assert document.text_sha256 == text_hash("High water.")


@pytest.mark.parametrize(
    ("words", "arguments", "left"),
    [
        ("No ship carries more than 90.", {"q": "ship carries more than"}, ["No ", " 90."]),
        ("NO  ship\ncarries more than 90.", {"q": ["ship carries more than"]}, ["NO  ", " 90."]),
        ("4 + 4 = 8", {"sum": "4 + 4"}, ["4 + 4 = 8"]),
        ("a b c d", {"q": {"deep": "a b c d"}}, []),
        ("a b c d e a b c d", {"q": "a b c d", "p": "b c d e a"}, []),
        ("High water.", {}, ["High water."]),
    ],
)
def test_no_echo_is_evidence(words: str, arguments: Mapping[str, object], left: list[str]) -> None:
    found = ToolText("tides", arguments, "", words, text_hash(words))
    assert parts(found) == left
    assert parts(found, echoes=False) == [words]
    for excerpt in tool_excerpts(found, echoes=True):
        assert words[excerpt.start : excerpt.end] == excerpt.text


def test_a_long_text_becomes_several_blocks_that_cover_it() -> None:
    words = "\n\n".join(f"Ship {number} carries {number} guests." for number in range(200))
    found = parts(text(words))
    assert len(found) > 3
    assert "".join(found) == words


def test_a_call_gives_clean_texts_within_the_limit() -> None:
    texts, left_out = call_tool(tool("High\u200b water at 04:12.", maximum_characters=10), {"h": 1})
    assert [(one.text, dict(one.arguments), one.place) for one in texts] == [
        ("High water", {"h": 1}, "")
    ]
    assert left_out == 10
    assert call_tool(tool(" \n"), {}) == ((), 0)


def test_passages_share_the_limit() -> None:
    found = [ToolPassage(f"page\n{number}", "x" * 6) for number in range(3)]
    texts, left_out = call_tool(tool(find=lambda _: found, maximum_characters=10), {})
    assert [(one.place, len(one.text)) for one in texts] == [("page 0", 6), ("page 1", 4)]
    assert left_out == 8
