from collections.abc import Mapping
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.errors import RefusedError, UsageError
from chapterhouse.settings import LanguageModelSettings, RerankSettings, Settings
from chapterhouse.settings_file import StatedSettings
from chapterhouse.settings_stored import (
    ALIASES,
    ResolvedSettings,
    convert_value,
    find_setting,
    is_changeable,
    overlay,
    require_possible,
    resolve,
    setting_names,
    setting_values,
    value_of,
)
from chapterhouse.types import Origin, StoredSetting

CHANGEABLE = {
    f"{section}.{name}"
    for section, names in {
        "chunking": "strategy by_format target minimum maximum overlap",
        "reading": "maximum_megabytes",
        "embedding": "batch background",
        "analytics": "enabled days text",
        "rerank": "engine depth",
        "language_model": "maximum_tokens temperature thinking",
        "search": "limit per_document fusion bm25_min_score vector_threshold min_similarity"
        " duplicates recency tool_description",
        "expansion": "names neighbours parts rewrite model",
        "packing": "maximum budgets hits widen",
        "answer": "words cache check",
        "memory": "enabled days recall",
    }.items()
    for name in names.split()
}


def stated(settings: Settings | None = None) -> StatedSettings:
    found = settings or Settings()
    return StatedSettings(
        found, {Origin.HOME_FILE: found.model_dump(exclude_defaults=True)}, files={}
    )


def resolved(values: Mapping[str, object], settings: Settings | None = None) -> ResolvedSettings:
    stored = {name: StoredSetting(value, 5, "ada") for name, value in values.items()}
    return resolve(stated(settings), stored, 7)


def test_every_setting_is_placed_and_a_new_one_belongs_to_the_machine() -> None:
    """A new setting fails here until somebody has thought about who may change it."""
    assert {name for name in setting_names() if is_changeable(name)} == CHANGEABLE
    assert not is_changeable("chunking.anything_new")
    assert not is_changeable("new_section.setting")
    assert not is_changeable("models.fast.model")
    assert not is_changeable("models")


def test_what_belongs_to_the_machine_is_refused_and_ignored() -> None:
    """Secrets, addresses, and what names programs, folders, files, models and means."""
    for name in {*setting_names(), "models.fast.base_url"} - CHANGEABLE:
        with pytest.raises(RefusedError, match=name) as refused:
            require_possible(name, "x", Settings())
        assert "chapterhouse.toml" in refused.value.hint
        found = resolved({name: "x"})
        assert (found.settings, set(found.ignored)) == (Settings(), {name})


@pytest.mark.parametrize(
    ("name", "value"), [("rerank.engine", "folder"), ("rerank.engine", "http")]
)
def test_what_opens_something_of_the_machine_is_chosen_by_a_file_first(
    name: str, value: str
) -> None:
    with pytest.raises(UsageError, match="settings file"):
        require_possible(name, value, Settings())
    assert set(resolved({name: value}).ignored) == {name}
    by_file = Settings.model_validate(
        {
            "rerank": {"engine": value, "folder": "/m"}
            | {"base_url": "http://localhost:1", "model": "m"}
        }
    )
    require_possible(name, value, by_file)
    assert not resolved({name: value}, by_file).ignored


def test_a_model_for_rewriting_is_one_of_the_settings() -> None:
    with pytest.raises(UsageError, match="fast"):
        require_possible("expansion.model", "fast", Settings())
    require_possible("expansion.model", "fast", Settings(models={"fast": LanguageModelSettings()}))


@pytest.mark.parametrize(
    ("alias", "value", "name", "expected"),
    [
        ("chunk_size", 500, "chunking.target", 500),
        ("min_chunk_size", 90, "chunking.minimum", 90),
        ("max_chunk_size", 1_400, "chunking.maximum", 1_400),
        ("chunk_overlap", 150, "chunking.overlap", 150),
        ("n_results", 5, "search.limit", 5),
        ("max_tokens", 4_000, "packing.maximum", 4_000),
        ("min_similarity", 0.5, "search.min_similarity", 0.5),
        ("diversity_factor", 0.3, "search.per_document", 3),
        ("diversity_factor", 0.2, "search.per_document", 5),
        ("diversity_factor", 0, "search.per_document", 0),
        ("diversity_factor", 1, "search.per_document", 1),
        ("diversity_factor", 1e-9, "search.per_document", 1_000),
        ("rag_rerank_enabled", False, "rerank.engine", "none"),
        ("rag_rerank_enabled", True, "rerank.engine", "features"),
    ],
)
def test_names_of_other_systems_have_an_effect(
    alias: str, value: object, name: str, expected: object
) -> None:
    assert find_setting(alias) == ALIASES[alias] == name
    converted = convert_value(alias, value, Settings())
    assert converted == expected
    assert value_of(overlay(Settings(), {name: converted}), name) == expected
    assert is_changeable(name)


def test_enabling_reranking_takes_the_engine_of_the_files() -> None:
    convert = partial(convert_value, "rag_rerank_enabled", True)  # noqa: FBT003
    by_file = RerankSettings(engine="folder", folder="/model")
    assert convert(Settings(rerank=by_file)) == "folder"
    assert convert(Settings(rerank=RerankSettings(engine="none"))) == "features"


def test_reranking_by_a_provider_of_the_files_is_switched() -> None:
    cohere = RerankSettings(base_url="https://api.cohere.com/v2", model="rerank-v3.5")
    below = Settings(rerank=cohere)
    switched = [convert_value("rag_rerank_enabled", on, below) for on in (True, False)]
    assert switched == ["http", "features"]
    for engine in switched:
        require_possible("rerank.engine", engine, below)
        assert resolved({"rerank.engine": engine}, below).settings.rerank.engine == engine


@given(st.floats(0.001, 1))
def test_a_share_of_sources_is_reached(share: float) -> None:
    most = convert_value("diversity_factor", share, Settings())
    assert isinstance(most, int)
    assert 1 / most >= share - 1e-6  # of ``most`` passages of each document
    assert 1 / (most + 1) < share + 1e-6  # and no fewer than that needs


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("search.limit", "many"),
        ("search.limit", 0),
        ("search.recency", float("nan")),
        ("packing.budgets", {"chat": 0}),
        ("packing.budgets", {"Chat!": 10}),
        ("packing.budgets", [1]),
        ("chunking.target", 1_501),
        ("memory.recall", "x"),
        ("gone.setting", 1),
        ("nonsense", 1),
        ("", None),
    ],
)
def test_a_value_that_does_not_fit_is_ignored_alone(name: str, value: object) -> None:
    found = resolved({name: value, "search.per_document": 2})
    assert set(found.ignored) == {name}
    assert found.ignored[name]
    assert found.settings == overlay(Settings(), {"search.per_document": 2})


def test_values_that_only_fit_together_hold_in_any_order() -> None:
    values: dict[str, object] = {"chunking.target": 2_000, "chunking.maximum": 3_000, "x.y": 1}
    for stored in (values, dict(reversed(values.items()))):
        found = resolved({**stored, "search.limit": -1})
        assert set(found.ignored) == {"x.y", "search.limit"}
        assert found.settings.chunking.target == 2_000


def test_origins_and_secrets() -> None:
    below = Settings.model_validate(
        {
            "language_model": {"extra_body": {"key": "CANARY"}},
            "models": {
                "fast": {"engine": "anthropic", "model": "m", "extra_body": {"a": "CANARY"}}
            },
            "search": {"limit": 7},
        }
    )
    found = setting_values(resolved({"search.limit": 8, "packing.hits": 0}, below))
    by_name = {one.name: one for one in found}
    assert "CANARY" not in repr(found)
    assert by_name["language_model.extra_body"].value == "(set)"
    assert by_name["models.fast.model"].value == "m"
    assert by_name["models.fast.model"].origin is Origin.HOME_FILE
    limit = by_name["search.limit"]
    assert (limit.value, limit.origin, limit.default) == (8, Origin.DATABASE, 10)
    assert (limit.changed, limit.changed_by) == (5, "ada")
    hits = by_name["packing.hits"]
    assert (hits.value, hits.origin) == (12, Origin.DEFAULT)
    assert "packing.hits" in hits.ignored
    assert by_name["chunking.target"].needs_reindex
    assert by_name["answer.words"].changed == 0
    assert not by_name["answer.words"].needs_reindex
