"""Settings: what goes together, what no setting may hold, and where they are read from.

Defaults < file < environment < workspace.
"""

import os
from pathlib import Path

import pytest
from pydantic import ValidationError

from chapterhouse.errors import UsageError
from chapterhouse.settings import (
    ChunkingSettings,
    EmbeddingSettings,
    LanguageModelSettings,
    RerankSettings,
    TelemetrySettings,
)
from chapterhouse.settings_file import (
    have_files_changed,
    load_settings,
    portable_settings,
    read_stated,
)


def test_a_target_fits_its_limits_inclusive_and_the_default_maximum() -> None:
    assert ChunkingSettings(target=100, minimum=100).target == 100
    assert ChunkingSettings(target=1_500).target == 1_500
    with pytest.raises(ValidationError, match="1500"):
        ChunkingSettings(target=1_501)
    assert ChunkingSettings(minimum=5_000).target == 0  # nothing is aimed at: nothing is compared


@pytest.mark.parametrize(
    "url",
    [
        "ftp://host/v1",
        "host:8080",
        "http://",
        "http://host:0/v1",
        "https://user@host/v1",
        "https://host/v1?key=1",
        "https://host/v1#key",
    ],
)
def test_an_address_is_of_the_web_and_holds_no_secret(url: str) -> None:
    for refuse in (EmbeddingSettings, RerankSettings, LanguageModelSettings):
        with pytest.raises(ValidationError, match="address"):
            refuse(base_url=url)
    with pytest.raises(ValidationError, match="address"):
        TelemetrySettings(endpoint=url)


@pytest.mark.parametrize("key", ["sk-1234", "MY KEY", "1KEY", "SCHLÜSSEL"])
def test_a_key_itself_is_no_name_of_a_variable(key: str) -> None:
    with pytest.raises(ValidationError, match="never the key itself"):
        LanguageModelSettings(key_variable=key)


@pytest.mark.parametrize(
    ("made", "values", "missing"),
    [
        (EmbeddingSettings, {"engine": "openai", "model": "m"}, "needs base_url"),
        (EmbeddingSettings, {"engine": "folder"}, "needs folder"),
        (EmbeddingSettings, {"shorten": True}, "needs dimensions"),
        (RerankSettings, {"engine": "http"}, "needs base_url and model"),
        (LanguageModelSettings, {"engine": "anthropic"}, "needs model"),
        (LanguageModelSettings, {"key_variable": "K", "key_entry": "a/b"}, "and key_file"),
    ],
)
def test_an_engine_says_what_it_needs(
    made: type[EmbeddingSettings], values: dict[str, object], missing: str
) -> None:
    with pytest.raises(ValidationError) as caught:
        made.model_validate(values)
    (problem,) = caught.value.errors()
    assert problem["msg"].endswith(missing)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "workspaces" / "own").mkdir(parents=True)
    return tmp_path


def own(home: Path) -> Path:
    return home / "workspaces" / "own"


def test_the_later_source_wins(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "chapterhouse.toml").write_text("[search]\nlimit = 20\nper_document = 5\n")
    assert load_settings(home, own(home)).search.limit == 20
    monkeypatch.setenv("CHAPTERHOUSE_SEARCH__LIMIT", "30")
    assert load_settings(home, own(home)).search.limit == 30
    (own(home) / "workspace.toml").write_text("[search]\nlimit = 40\n")
    settings = load_settings(home, own(home))
    assert (settings.search.limit, settings.search.per_document) == (40, 5)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("# mine\n[search]\n\nlimitt = 5\n", r"search\.limitt: .*did you mean 'limit'\?"),
        ("[serach]\nlimit = 5\n", r"did you mean 'search'\?"),
        ("[models.big]\nmodle = 'x'\n", r"did you mean 'model'\?"),
        ("[search]\nlimit = 3\n[answer]\nqqqq = 1\n", r"known: .*words"),
        ("[search]\nfusion = 3\nlimit = 0\n", r"search\.limit: .*"),
        ("[chunking]\nstrategy = 'fixed'\nmaximum = 200\noverlap = 200\n", "chunking: overlap"),
        ("[chunking]\ntarget = 50\n", r"chunking: minimum \(100\)"),
        ("[chunking]\ntarget = 500\nmaximum = 300\n", "maximum"),
        ("[chunking.by_format]\npy = 'cod'\n", "by_format"),
        ("[search\n", "TOML"),
        ("search = 3\n", "search"),
    ],
)
@pytest.mark.parametrize("name", ["chapterhouse.toml", "workspaces/own/workspace.toml"])
def test_what_does_not_fit_is_named_with_the_nearest_setting(
    home: Path, name: str, text: str, says: str
) -> None:
    (home / name).write_text(text)
    with pytest.raises(UsageError, match=says) as caught:
        load_settings(home, own(home))
    assert Path(name).name in caught.value.message + caught.value.hint


@pytest.mark.parametrize(
    ("variable", "value", "says"),
    [
        ("CHUNKING__BY_FORMAT", "pdf=semantic", "chunking.*JSON"),
        ("SEARCH__LIMIT", "many", r"search\.limit"),
        ("SERACH__LIMIT", "5", "CHAPTERHOUSE_SERACH__LIMIT"),
    ],
)
def test_a_variable_that_does_not_fit_is_named(
    home: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, says: str
) -> None:
    monkeypatch.setenv(f"CHAPTERHOUSE_{variable}", value)
    with pytest.raises(UsageError, match=says):
        load_settings(home, own(home))


PORTABLE = """\
# a comment with a key: hunter2
[search]
limit = 7  # as always
[chunking]
by_format = { md = "sentence", ".eml" = "fixed" }
[embedding]
languages = ["de", "en"]
question_prefix = "Frage: \\"ä\\" "
[language_model]
engine = "openai"
model = "m"
base_url = "http://localhost:1"
key_variable = "MY_KEY"
extra_body = { api_key = "hunter2" }
[models."my own"]
engine = "anthropic"
model = "n"
temperature = 0.5
extra_body = { a = { b = "hunter2" } }
"""


def test_settings_leave_a_machine_as_they_are_but_for_what_may_be_secret(tmp_path: Path) -> None:
    own = tmp_path / "workspace"
    own.mkdir()
    (tmp_path / "chapterhouse.toml").write_text(PORTABLE)
    written = portable_settings(tmp_path / "chapterhouse.toml")
    assert "hunter2" not in written
    before = load_settings(tmp_path, own).model_dump()
    (tmp_path / "chapterhouse.toml").write_text(written)
    after = load_settings(tmp_path, own).model_dump()
    for section in (before["language_model"], before["models"]["my own"]):
        section["extra_body"] = {}
    assert after == before
    assert portable_settings(tmp_path / "chapterhouse.toml") == written


@pytest.mark.parametrize("age", [0, 3_600])
def test_a_file_that_says_something_else_is_noticed(home: Path, age: int) -> None:
    file = home / "chapterhouse.toml"
    file.write_text("[search]\nlimit = 20\n")
    then = file.stat().st_mtime - age
    os.utime(file, (then, then))
    found = read_stated(home, own(home))
    assert not have_files_changed(found)
    file.write_text("[search]\nlimit = 21\n")
    os.utime(file, (then, then))  # the same size and date
    assert have_files_changed(found)
    file.unlink()
    assert have_files_changed(found)
