import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from chapterhouse.errors import CorruptLibraryError
from chapterhouse.ingest import environment
from chapterhouse.ingest.environment import (
    Surroundings,
    changed_settings,
    environment_checks,
    file_system,
    sizes,
    slow_parts,
)
from chapterhouse.settings import SearchSettings, Settings
from chapterhouse.types import EncoderStatus, Source, SourceKind


class Behind:
    def sequence(self) -> int:
        return 0


class Damaged:
    def sequence(self) -> int:
        raise CorruptLibraryError("no index")


@pytest.fixture
def around(home: Any) -> Surroundings:
    home.write("a.md", "# Title\n\nSome text.\n")
    home.add()
    folder = home.folder.parent / "home"
    encoder = EncoderStatus("active", "static", "static/1", 1, 1)
    return Surroundings("0.1.0", Settings(), folder, home.store, {}, (encoder,), is_embedding=False)


def _sentences(around: Surroundings) -> dict[str, str]:
    checks = environment_checks(around)
    assert all(check.passed and check.sentence for check in checks)
    return {check.name: f"{check.sentence} {check.hint}" for check in checks}


def test_every_part_of_the_environment_is_told(around: Surroundings, home: Any) -> None:
    home.store.sources().save(Source("docs", SourceKind.FOLDER, str(home.folder)))
    told = _sentences(around)
    assert "Chapterhouse 0.1.0" in told["versions"]
    assert "SQLite 3." in told["versions"]
    assert "formats can be read here" in told["formats"]
    assert "are free" in told["disk"]
    assert "open files" in told["limits"]
    assert told["settings"].startswith("All are the defaults.")
    assert "1 folder added, 0 of them away" in told["added folders"]


def test_a_folder_that_is_away_is_named(around: Surroundings, home: Any) -> None:
    home.store.sources().save(Source("docs", SourceKind.FOLDER, str(home.folder)))
    shutil.rmtree(home.folder)
    assert str(home.folder) in _sentences(around)["added folders"]


def test_settings_that_differ_are_shown_and_no_secret() -> None:
    settings = Settings.model_validate(
        {
            "search": {"limit": 7},
            "language_model": {"extra_body": {"key": "canary"}},
            "models": {"other": {"engine": "none", "extra_body": {"key": "canary"}}},
        }
    )
    shown = changed_settings(settings)
    assert shown["search.limit"] == 7
    assert "canary" not in str(shown)
    assert changed_settings(Settings()) == {}
    assert changed_settings(Settings(search=SearchSettings(limit=10))) == {}


def test_what_is_slow_is_named_with_the_reason(
    around: Surroundings, monkeypatch: pytest.MonkeyPatch
) -> None:
    pending = EncoderStatus("building", "built-in", "x", 0, 1)
    indexes: Any = {"lexical": Behind(), "names": Damaged()}
    slow = replace(around, indexes=indexes, encoders=(pending,))
    found = "; ".join(slow_parts(slow))
    assert "the lexical index is 1 change behind" in found
    assert "vectors are missing" in found
    assert "names" not in found
    assert "in the background" in "; ".join(slow_parts(replace(around, is_embedding=True)))
    monkeypatch.setattr(environment, "file_system", lambda _: "nfs4")
    assert "network file system (nfs4)" in "; ".join(slow_parts(around))


def test_a_full_disk_is_a_problem(around: Surroundings, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage(around.folder)._replace(free=5)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    (failed,) = (check for check in environment_checks(around) if not check.passed)
    assert (failed.name, bool(failed.hint)) == ("disk", True)


def test_sizes_add_up(around: Surroundings) -> None:
    (around.folder / "notes").write_bytes(b"12345")
    found = sizes(around.folder)
    assert found["other"] == 5
    assert found["database"] > 0


def test_the_file_system_is_that_of_the_nearest_mount() -> None:
    assert file_system(Path("/proc/self")) in {"proc", ""}
