import runpy
import tomllib
from pathlib import Path
from typing import Any

import pytest

from chapterhouse.errors import UsageError
from chapterhouse.interfaces.cli.model_choice import encoder
from chapterhouse.interfaces.cli.settings import (
    changed_text,
    write_encoder,
)
from chapterhouse.settings import EmbeddingSettings

_MODELS = runpy.run_path(str(Path(__file__).parents[2] / "models" / "conftest.py"))


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return _MODELS["write_model"](tmp_path / "tiny")  # type: ignore[no-any-return]


@pytest.fixture
def home(tmp_path: Path, chapterhouse: Any) -> Path:
    folder, home = tmp_path / "notes", tmp_path / "house"
    folder.mkdir()
    for name in ("ferry", "harbour", "crane"):
        (folder / f"{name}.md").write_text(f"# {name}\n\nThe {name} leaves in the morning.\n")
    assert chapterhouse("add", str(folder), "--home", str(home)).code == 0
    return home


def test_an_encoder_is_chosen_made_and_gone_back_from(
    chapterhouse: Any, home: Path, model: Path
) -> None:
    place = ("--home", str(home))
    use = ("model", "use", "--embedder", str(model), *place)
    (first,) = chapterhouse("model", "embed", "--json", *place).data["encoders"]
    told = chapterhouse(*use)
    assert told.code == 0, told.err
    assert "0 of 3 documents have its vectors" in told.out
    assert "chunks a second" in told.out
    settings = tomllib.loads((home / "chapterhouse.toml").read_text())["embedding"]
    assert settings["folder"] == str(model)
    assert len(settings["checksum"]) == 64
    assert "0 of 3 documents" in chapterhouse("status", *place).out
    embedded = chapterhouse("model", "embed", "--json", *place).data["encoders"]
    assert [(each["role"], each["done"]) for each in embedded] == [("active", 3), ("previous", 3)]
    assert "is in use" in chapterhouse(*use).out
    returned = chapterhouse("model", "back", "--json", *place).data["encoders"]
    assert [each["name"] for each in returned if each["role"] == "active"] == [first["name"]]
    assert chapterhouse("search", "ferry", *place).code == 0
    assert chapterhouse("status", "--json", *place).data["embedder"] == first["fingerprint"]
    assert "Deleted the vectors of 3" in chapterhouse("model", "forget", *place).out


def test_what_is_known_of_a_model_holds_wherever_it_runs(model: Path) -> None:
    renamed = model.rename(model.with_name("multilingual-e5-small"))
    at_address = encoder("http://h/v1", "nomic-ai/nomic-embed-text-v1.5")
    for found, model_name, prefix in (
        (encoder(str(renamed), ""), "", "query: "),
        (at_address, "nomic-ai/nomic-embed-text-v1.5", "search_query: "),
        (encoder("Nomic-Embed-Text", ""), "nomic-embed-text", "search_query: "),
        (encoder("all-MiniLM-L6-v2", ""), "all-minilm", ""),
        (encoder("Built-In", ""), "", ""),
    ):
        assert (found.model, found.question_prefix) == (model_name, prefix)


def test_what_cannot_be_chosen_is_told(chapterhouse: Any, home: Path) -> None:
    for name, sentence in (
        ("nobody-knows", "neither a folder nor an address"),
        ("multilingual-e5-small", "neither a folder nor an address"),
        ("http://h/v1", "several models"),
    ):
        told = chapterhouse("model", "use", "--embedder", name, "--home", str(home))
        assert (told.code, sentence in told.err) == (2, True), name


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
