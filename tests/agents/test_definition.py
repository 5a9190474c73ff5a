from pathlib import Path

import pytest

from chapterhouse.agents.definition import (
    MAXIMUM_BYTES,
    as_json,
    with_changes,
)
from chapterhouse.agents.persona import (
    read_raw,
)
from chapterhouse.agents.problems import PersonaConfigError
from chapterhouse.errors import UsageError
from chapterhouse.store.definitions import FolderDefinitions


def test_a_file_that_is_not_there_or_too_long(personas: FolderDefinitions, tmp_path: Path) -> None:
    path = tmp_path / "maria" / "persona.config.json"
    path.parent.mkdir()
    with pytest.raises(PersonaConfigError, match="No such file"):
        read_raw(personas, "maria")
    path.write_bytes(b" " * (MAXIMUM_BYTES + 1))
    with pytest.raises(PersonaConfigError, match="more than 1,000,000 bytes"):
        read_raw(personas, "maria")


def test_edits_keep_what_its_owner_wrote(personas: FolderDefinitions, tmp_path: Path) -> None:
    path = tmp_path / "maria" / "persona.config.json"
    path.parent.mkdir()
    raw = {"tags": ["ö"], "slug": "maria", "retrieval": {"max_chunks": 3}}
    changed = with_changes(raw, {"retrieval.recency": 0.5, "model": "none", "tags": []})
    assert list(changed) == ["tags", "slug", "retrieval", "model"]
    assert changed["retrieval"] == {"max_chunks": 3, "recency": 0.5}
    assert raw["tags"] == ["ö"]
    path.write_text("{}")
    path.chmod(0o600)
    personas.write("maria", path.name, as_json(changed | {"tags": ["ö"]}))
    assert read_raw(personas, "maria") == changed | {"tags": ["ö"]}
    assert "ö" in path.read_text("utf-8")
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(path.parent.iterdir()) == [path]


def test_an_edit_that_leads_nowhere_is_refused() -> None:
    with pytest.raises(UsageError, match="'tags' is no object"):
        with_changes({"tags": []}, {"tags.first": "x"})
