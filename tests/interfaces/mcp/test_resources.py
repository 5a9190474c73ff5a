from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from mcp import MCPError
from mcp_types import TextResourceContents

from chapterhouse.interfaces.mcp import tools
from chapterhouse.library import Library

from .conftest import Caller


def test_documents_personas_and_councils_are_listed_and_read(
    caller: Caller, library: Library
) -> None:
    listed = caller.run(caller.client.list_resources)
    assert listed.next_cursor is None
    documents = {document.id: document for document in library.documents.list()}
    uris = [resource.uri for resource in listed.resources]
    assert uris == [
        "chapterhouse://councils/broken",
        "chapterhouse://councils/storm-board",
        *(f"chapterhouse://documents/{name}" for name in sorted(documents)),
        "chapterhouse://personas/maria",
        "chapterhouse://personas/tom",
    ]
    for uri in uris[2:-2]:
        contents = caller.run(caller.client.read_resource, uri).contents[0]
        name = uri.rpartition("/")[2]
        assert contents.mime_type == "text/markdown"
        assert contents.text == library.documents.body(name).text
        assert contents.meta["chapterhouse/text_sha256"] == documents[name].text_sha256


def test_personas_and_councils_say_who_they_are_and_no_path(
    caller: Caller, library: Library
) -> None:
    maria = caller.run(caller.client.read_resource, "chapterhouse://personas/maria").contents[0]
    assert maria.text.startswith("# Maria\n")
    assert "Documents of their own: 1." in maria.text
    board = caller.run(caller.client.read_resource, "chapterhouse://councils/storm-board")
    assert "It settles the rules for storms." in board.contents[0].text
    assert "Members: maria, tom." in board.contents[0].text
    for text in (maria.text, board.contents[0].text):
        assert str(library.home.parent) not in text


def test_unknown_and_unreadable_resources_are_errors(
    caller: Caller, library: Library, tmp_path: Path
) -> None:
    (tmp_path / "x.md").write_text("x", "utf-8")
    for uri in (
        "chapterhouse://documents/nothing-12345678",
        "chapterhouse://documents/",
        "chapterhouse://documents/../../library.db",
        "chapterhouse://personas/zed",
        "chapterhouse://personas/..%2F..",
        "chapterhouse://councils/broken",
        "chapterhouse://elsewhere/x",
        "file:///etc/passwd",
        f"chapterhouse://documents/{tmp_path / 'x.md'}",
    ):
        with pytest.raises(MCPError) as raised:
            caller.run(caller.client.read_resource, uri)
        assert raised.value.code == -32602
        assert str(library.home) not in raised.value.message
    with pytest.raises(MCPError, match="cursor"):
        caller.run(caller.client.list_resources, cursor="17")


def test_pages_hold_everything_once_and_in_order(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = tools.list_resources(library, None).resources
    for size in (1, 2, 3, len(whole) - 1, len(whole), len(whole) + 1):
        monkeypatch.setattr(tools, "LISTED", size)
        assert [one.uri for one in pages(library, size)] == [one.uri for one in whole]


def pages(library: Any, size: int) -> Iterator[Any]:
    cursor = None
    while True:
        page = tools.list_resources(library, cursor)
        assert len(page.resources) <= size
        yield from page.resources
        cursor = page.next_cursor
        if cursor is None:
            return


def test_what_is_removed_between_two_pages_moves_nothing(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = [one.uri for one in tools.list_resources(library, None).resources]
    monkeypatch.setattr(tools, "LISTED", 3)
    first = tools.list_resources(library, None)
    gone = first.resources[2].uri.rpartition("/")[2]
    left = [document for document in library.documents.list() if document.id != gone]
    fewer = SimpleNamespace(
        documents=SimpleNamespace(list=lambda: iter(left)),
        councils=library.councils,
        personas=library.personas,
    )
    second = tools.list_resources(fewer, first.next_cursor)  # type: ignore[arg-type]
    assert [one.uri for one in second.resources] == whole[3:6]


def test_a_very_long_document_is_cut_and_says_how_to_read_on(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tools, "LONGEST", 100)
    name = library.documents.get("berths.md").id
    contents = tools.read_resource(library, f"chapterhouse://documents/{name}").contents[0]
    assert isinstance(contents, TextResourceContents)
    assert len(contents.text) == 100
    assert contents.meta
    assert contents.meta["chapterhouse/characters"] == len(library.documents.body(name).text)
    assert "offset=100" in str(contents.meta["chapterhouse/note"])
