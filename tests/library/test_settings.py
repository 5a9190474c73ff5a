import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from chapterhouse import Library
from chapterhouse.errors import NotFoundError, ReadOnlyError, RefusedError, UsageError
from chapterhouse.settings import Settings
from chapterhouse.settings_stored import ALIASES, value_of
from chapterhouse.types import Origin

HOME = '[search]\nlimit = 5\n\n[chunking]\nmaximum = 2000\n\n[models.fast]\nmodel = "m"\n'
BELOW = Settings.model_validate(
    {"search": {"limit": 5}, "chunking": {"maximum": 2_000}, "models": {"fast": {"model": "m"}}}
)
VALUES: Mapping[str, tuple[object, ...]] = {
    "search.limit": (1, 5, 0, "many"),
    "chunking.target": (0, 300, 1_900, 2_500),
    "chunking.maximum": (400, 3_000),
    "chunking.minimum": (50, 350, 2_100),
    "memory.recall": (None, 3, 99),
    "packing.budgets": ({"chat": 5}, {}, {"chat": 0}),
    "expansion.model": ("", "fast", "slow"),
}


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    home = tmp_path_factory.mktemp("home")
    (home / "chapterhouse.toml").write_text(HOME)
    with Library.open(home) as library:
        yield library


@pytest.fixture
def shared(opened: Library) -> Library:
    """One library for many tests, each of which finds the settings of the files."""
    opened.configuration.reset_many(sorted(VALUES), "start")
    return opened


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    (home / "chapterhouse.toml").write_text(HOME)
    return home


def tree(values: Mapping[str, object]) -> Settings | None:
    """Return what the values make of the files' settings; None where they do not fit."""
    found = BELOW.model_dump()
    for name, value in values.items():
        section, _, setting = name.partition(".")
        found[section][setting] = value
    if values.get("expansion.model") == "slow":  # no file names it
        return None
    try:
        return Settings.model_validate(found)
    except ValidationError:
        return None


CHANGES = st.dictionaries(
    st.sampled_from(sorted(VALUES)), st.integers(0, 3), min_size=1, max_size=3
)
RESETS = st.lists(st.sampled_from(sorted(VALUES)), min_size=1, max_size=3)


@given(steps=st.lists(CHANGES | RESETS, max_size=4))
def test_any_changes_or_nothing(opened: Library, steps: list[dict[str, int] | list[str]]) -> None:
    settings = opened.configuration
    settings.reset_many(sorted(VALUES), "start")
    known: dict[str, object] = {}
    for step in steps:
        sequence = opened._runtime.store.settings().sequence()
        if isinstance(step, dict):
            wanted = {name: VALUES[name][at % len(VALUES[name])] for name, at in step.items()}
            after = {**known, **wanted}
        else:
            wanted = {}
            after = {name: value for name, value in known.items() if name not in step}
        fits = tree(after)
        for dry_run in (True, False):
            try:
                if isinstance(step, dict):
                    found = settings.change_many(wanted, "ada", dry_run=dry_run)
                else:
                    found = settings.reset_many(step, "ada", dry_run=dry_run)
                assert fits is not None
                assert [one.value for one in found] == [value_of(fits, one.name) for one in found]
            except UsageError:
                assert fits is None
            if dry_run or fits is None:  # nothing was written
                assert opened._runtime.store.settings().sequence() == sequence
        known = known if fits is None else after
        holds = tree(known)
        assert holds is not None
        for one in settings.all():
            if not one.name.startswith("models."):
                assert one.value == value_of(holds, one.name) or one.name == "store.address"
            assert (one.origin is Origin.DATABASE) == (one.name in known)
            assert not one.ignored


def test_the_last_change_wins_over_every_file(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHAPTERHOUSE_SEARCH__LIMIT", "6")
    monkeypatch.setenv("CHAPTERHOUSE_SEARCH__PER_DOCUMENT", "3")
    with Library.open(home) as library:
        (library.folder / "workspace.toml").write_text("[search]\nlimit = 7\n")
        limit = library.configuration.get("search.limit")
        assert (limit.value, limit.origin) == (7, Origin.WORKSPACE_FILE)
        per_document = library.configuration.get("search.per_document")
        assert per_document.origin is Origin.ENVIRONMENT
        assert library.configuration.get("chunking.maximum").origin is Origin.HOME_FILE
        assert library.configuration.get("models.fast.model").origin is Origin.HOME_FILE
        assert library.configuration.get("search.recency").origin is Origin.DEFAULT
        changed = library.configuration.change("search.limit", 8, "ada")
        assert (changed.value, changed.origin, changed.changed_by) == (8, Origin.DATABASE, "ada")
        assert library.settings.search.limit == 6  # it was opened before
    with Library.open(home) as library:
        assert library.settings.search.limit == 8
        back = library.configuration.reset("search.limit", "bob")
        assert (back.value, back.origin) == (7, Origin.WORKSPACE_FILE)
        with Library.open(home, "other") as other:  # another workspace is not touched
            assert other.configuration.get("search.limit").value == 6
        with pytest.raises(NotFoundError, match=r"models\.slow"):
            library.configuration.get("models.slow.model")


def test_who_changes_a_setting_is_named(home: Path) -> None:
    with Library.open(home) as library:
        for name in ("", " ", "x" * 201, "a\nb"):
            with pytest.raises(UsageError, match="named"):
                library.configuration.change("search.limit", 1, name)
        library.configuration.change("max_tokens", 3_000, "ada")
        again = library.configuration.change("packing.maximum", 3_000, "bob")  # nothing new
        assert again.changed_by == "ada"


def test_all_or_nothing(home: Path) -> None:
    with Library.open(home) as library:
        settings = library.configuration
        for wrong in (
            {"search.limit": 3, "chunking.target": 5_000},
            {"search.limit": 3, "cloud.rclone": "x"},
            {"search.limit": 3, "search.limt": 3},
            {"max_tokens": 3, "packing.maximum": 3},
        ):
            with pytest.raises((UsageError, RefusedError)):
                settings.change_many(wrong, "ada")
            assert not library.settings_changed()
        assert len(settings.change_many({"chunk_size": 5_000, "max_chunk_size": 6_000}, "ada")) == 2
        with pytest.raises(UsageError, match=r"chunking\.target would not hold"):
            settings.reset("max_chunk_size", "ada")  # 5,000 is more than the file's 2,000
        assert settings.get("max_chunk_size").value == 6_000
        settings.reset_many(["max_chunk_size", "chunk_size"], "ada")


@pytest.mark.parametrize("alias", sorted(ALIASES))
def test_another_name_is_taken_everywhere_and_never_shown(shared: Library, alias: str) -> None:
    value: object = {"rag_rerank_enabled": False, "min_similarity": 0.5}.get(
        alias, 1 if alias == "diversity_factor" else 600
    )
    changed = shared.configuration.change(alias, value, "ada")
    assert changed.name == ALIASES[alias] == shared.configuration.get(alias).name
    assert changed.origin is Origin.DATABASE
    assert changed.value != changed.default
    assert shared.configuration.reset(alias, "ada").origin is not Origin.DATABASE


@pytest.mark.parametrize("value", [{"a": {}}, {"": {}}, [{}], [[None]], -1, 1.5, True, "\ud800"])
def test_a_value_of_any_kind_fits_or_is_refused(shared: Library, value: object) -> None:
    names = [one.name for one in shared.configuration.all()]
    for name in (*names, *ALIASES):
        with suppress(UsageError, RefusedError):
            shared.configuration.change_many({name: value}, "ada", dry_run=True)


def test_a_change_of_another_process_is_seen(home: Path) -> None:
    code = (
        "import sys; from chapterhouse import Library\n"
        "with Library.open(sys.argv[1]) as library:\n"
        "    library.configuration.change('search.limit', 9, 'other')\n"
    )
    with Library.open(home) as library:
        assert not library.settings_changed()
        subprocess.run([sys.executable, "-c", code, str(home)], check=True)
        assert library.settings_changed()
        assert library.configuration.get("search.limit").changed_by == "other"
        with Library.open(home) as again:
            assert again.settings.search.limit == 9
            assert not again.settings_changed()


def test_a_change_of_a_file_is_seen(home: Path) -> None:
    file = home / "chapterhouse.toml"
    with Library.open(home) as library:
        file.touch()
        file.write_text(HOME + "# a comment\n")
        assert not library.settings_changed()  # it says the same
        file.write_text(HOME.replace("limit = 5", "limit = 6"))  # as long as before
        assert library.settings_changed()
        file.write_text("[search\n")
        assert library.settings_changed()
        file.write_text(HOME)
        assert not library.settings_changed()
        (library.folder / "workspace.toml").write_text("[search]\nlimit = 6\n")
        assert library.settings_changed()


def test_a_library_for_a_moment_has_the_settings_of_its_home(home: Path, folder: Path) -> None:
    with Library.open(home) as library:
        library.configuration.change("search.limit", 2, "ada")
    with Library.temporary(home) as moment:
        assert moment.settings.search.limit == 2
        assert not moment.settings_changed()
        assert len(moment.configuration.all()) > 50
        with pytest.raises(RefusedError, match="temporary"):
            moment.configuration.change("search.limit", 3, "ada")
    with Library.temporary(home, "none") as moment:
        assert moment.settings.search.limit == 5


def test_a_stored_value_of_another_version_leaves_the_library_open(home: Path) -> None:
    with Library.open(home) as library:
        stored = library._runtime.store.settings()
        stored.write("search.limit", "as many as there are", "newer", 1)
        stored.write("search.mood", "good", "newer", 2)
        stored.write("cloud.rclone", "rm", "thief", 3)
        stored.write("search.per_document", 4, "ada", 4)
    with Library.open(home) as library:
        assert library.settings.search.limit == 5
        assert library.settings.search.per_document == 4
        assert library.settings.cloud.rclone == ""
        (check,) = (one for one in library.doctor() if one.name == "settings")
        assert check.sentence == "Ignored: cloud.rclone, search.limit, search.mood."
        assert "settings list" in check.hint
        listed = {one.name: one for one in library.configuration.all() if one.ignored}
        assert {"search.limit", "search.mood", "cloud.rclone"} == set(listed)
        assert listed["search.limit"].origin is Origin.HOME_FILE
        assert library.configuration.change("search.limit", 3, "ada").ignored == ""
        library.configuration.reset_many(["search.mood", "cloud.rclone"], "ada")
        assert not any(one.ignored for one in library.configuration.all())


def test_the_same_value_again_makes_an_ignored_one_the_latest(home: Path) -> None:
    with Library.open(home) as library:
        library.configuration.change("chunk_size", 1_500, "ada")
        library.configuration.change("max_chunk_size", 1_600, "ada")
        (home / "chapterhouse.toml").write_text("[chunking]\nminimum = 1550\n")
        assert library.configuration.get("chunk_size").ignored
        with pytest.raises(UsageError, match="minimum"):
            library.configuration.change("chunk_size", 1_500, "ada")
        both = library.configuration.change_many(
            {"chunk_size": 1_500, "min_chunk_size": 100}, "ada"
        )
        assert [one.ignored for one in both] == ["", ""]
    with Library.open(home) as library:
        assert library.settings.chunking.target == 1_500


def test_a_library_to_be_read_only_is_left(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Library.open(home) as library:
        monkeypatch.setattr(library._runtime.store._connections, "read_only", True)
        with pytest.raises(ReadOnlyError):
            library.configuration.change("search.limit", 3, "ada")
        assert library.configuration.change_many({"search.limit": 3}, "ada", dry_run=True)


def test_they_travel_with_an_archive(home: Path, tmp_path: Path) -> None:
    with Library.open(home) as library:
        library.configuration.change("search.limit", 3, "ada")
        library.export(tmp_path / "archive")
    Library.restore(tmp_path / "archive", tmp_path / "elsewhere", "other")
    with Library.open(tmp_path / "elsewhere", "other") as restored:
        assert restored.settings.search.limit == 3
