"""The settings file: one table changes, the rest stays, and what decides elsewhere is named."""

from pathlib import Path

import pytest

from chapterhouse.errors import UsageError
from chapterhouse.interfaces.cli.settings_file import (
    LANGUAGE_MODEL,
    REWRITING,
    changed_text,
    write_encoder,
)
from chapterhouse.settings import EmbeddingSettings

FILE = """\
# Mine.
[search]
limit = 5  # few

[embedding]  # meaning
# patient
timeout_seconds = 9.5
engine = "openai"
model = "small"
base_url = "http://h/v1"

[answer]
sentences = 2
"""


def test_only_the_encoder_changes_in_the_file() -> None:
    changed = changed_text(FILE, {"engine": "folder", "folder": "/a b/“m”", "languages": ["en"]})
    assert changed == FILE.replace(
        '# patient\ntimeout_seconds = 9.5\nengine = "openai"\nmodel = "small"\n'
        'base_url = "http://h/v1"\n',
        'engine = "folder"\nfolder = "/a b/“m”"\nlanguages = ["en"]\n'
        "# patient\ntimeout_seconds = 9.5\n",
    )
    assert changed_text("a = 1", {"engine": "none"}) == 'a = 1\n\n[embedding]\nengine = "none"\n'
    assert changed_text("", {}) == ""


@pytest.mark.parametrize(
    "text",
    ["embedding.engine = 'none'\n", "[embedding]\nlanguages = [\n  'en',\n]\n", "[embedding\n"],
)
def test_a_file_that_is_written_in_another_way_is_left_alone(tmp_path: Path, text: str) -> None:
    path = tmp_path / "chapterhouse.toml"
    path.write_text(text)
    settings = EmbeddingSettings(engine="folder", folder="/m")
    with pytest.raises(UsageError):
        write_encoder(tmp_path, tmp_path / "own", settings)
    assert path.read_text() == text


def test_what_decides_elsewhere_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = EmbeddingSettings(engine="folder", folder="/m")
    (tmp_path / "workspace.toml").write_text("[embedding]\nengine = 'none'\n")
    with pytest.raises(UsageError, match="of this workspace"):
        write_encoder(tmp_path, tmp_path, settings)
    monkeypatch.setenv("CHAPTERHOUSE_EMBEDDING__ENGINE", "none")
    with pytest.raises(UsageError, match="CHAPTERHOUSE_EMBEDDING__ENGINE"):
        write_encoder(tmp_path, tmp_path / "own", settings)
    assert not (tmp_path / "chapterhouse.toml").exists()


def test_other_lines_of_the_settings_stay() -> None:
    text = (
        "[language_model]\n# mine\nthinking = 'off'\nmodel = 'old'\n\n"
        "[models.rewriting]\nmodel = 'm'\n"
    )
    changed = changed_text(text, {"model": "new"}, LANGUAGE_MODEL)
    assert changed == text.replace("# mine\nthinking = 'off'\nmodel = 'old'\n",
                                   'model = "new"\n# mine\nthinking = \'off\'\n')  # fmt: skip
    assert changed_text(text, {}, REWRITING) == text.replace("model = 'm'\n", "")
