"""Settings by themselves: what goes together, and what no setting may hold."""

import pytest
from pydantic import ValidationError

from chapterhouse.settings import (
    ChunkingSettings,
    EmbeddingSettings,
    LanguageModelSettings,
    RerankSettings,
    Settings,
    TelemetrySettings,
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


def test_nothing_can_be_changed_or_added() -> None:
    settings = Settings()
    with pytest.raises(ValidationError):
        settings.search = settings.search
    with pytest.raises(ValidationError):
        Settings.model_validate({"serach": {}})
