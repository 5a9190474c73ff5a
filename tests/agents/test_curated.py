"""What curation remembers: it comes back, and what a hand made of it costs one document at most."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.agents.curated import (
    STATE_FILE,
    Known,
    base_folder,
    is_document_id,
    kebab,
    load_state,
    read_own,
    save_state,
)
from chapterhouse.errors import RefusedError, UsageError


@given(st.text(max_size=120))
def test_any_name_becomes_an_id_that_is_only_a_file(name: str) -> None:
    identifier = kebab(name)
    assert is_document_id(identifier)
    assert Path(identifier).name == identifier
    assert len(identifier.encode()) < 230
    assert kebab(identifier) == identifier


@pytest.mark.parametrize(
    ("name", "identifier"),
    [
        ("Fees_2025 (final)", "fees-2025-final"),
        ("Öffnungszeiten", "offnungszeiten"),
        ("a/../b", "a-b"),
        ("--- 7 ---", "7"),
        (f"{'word ' * 30}", "-".join(["word"] * 16)),
    ],
)
def test_an_id_is_of_whole_words(name: str, identifier: str) -> None:
    assert kebab(name) == identifier


@pytest.mark.parametrize("name", ["", "-", "a--b", "A", "a b", "../a", "a.md", "a" * 201])
def test_what_could_be_another_file_is_no_id(name: str) -> None:
    assert not is_document_id(name)


def test_what_is_remembered_comes_back_and_is_written_alike(tmp_path: Path) -> None:
    state = {
        "ö.pdf": Known("o", "a" * 64, 7, 1, "1", made=True),
        "a.md": Known("", code="no-text", sentence="No text."),
    }
    save_state(tmp_path, state)
    written = (base_folder(tmp_path) / STATE_FILE).read_bytes()
    assert load_state(tmp_path) == state
    save_state(tmp_path, dict(reversed(state.items())))
    assert (base_folder(tmp_path) / STATE_FILE).read_bytes() == written
    assert (state["ö.pdf"].target, state["a.md"].target) == ("o.md", "")


@pytest.mark.parametrize(
    "entry",
    [[], {"id": 7}, {"id": "../up"}, {"id": "a", "made": 1}, {"id": "a", "size": "7"}, {"id": "A"}],
)
def test_an_entry_that_is_none_costs_no_other(tmp_path: Path, entry: object) -> None:
    save_state(tmp_path, {"a.md": Known("a"), "b.md": Known("b")})
    path = base_folder(tmp_path) / STATE_FILE
    stated = json.loads(path.read_bytes())
    stated["sources"]["a.md"] = entry
    path.write_text(json.dumps(stated))
    assert load_state(tmp_path) == {"b.md": Known("b")}


def test_no_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / ".curated").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RefusedError, match="link"):
        save_state(tmp_path, {})
    document = tmp_path / "a.md"
    document.symlink_to(tmp_path / "b.md")
    with pytest.raises(UsageError, match="cannot be read"):
        read_own(document)


def test_a_document_is_read_whatever_an_editor_did_to_its_lines(tmp_path: Path) -> None:
    document = tmp_path / "a.md"
    assert read_own(document) is None
    document.write_bytes(b"\xef\xbb\xbf# A\r\n\r\nText.\n")
    assert read_own(document) == "# A\n\nText.\n"
    document.write_bytes(b"caf\xe9")
    with pytest.raises(UsageError, match="UTF-8"):
        read_own(document)
