"""Which model or reranker is meant by what a user names, where no server has to be asked."""

from pathlib import Path

import pytest

from chapterhouse.errors import UsageError
from chapterhouse.interfaces.cli.model_choice import Chosen, Wish, choose, reranker
from chapterhouse.settings import LanguageModelSettings, RerankSettings


def test_none_takes_back_whatever_was_chosen() -> None:
    made = choose(Wish("none", "", key=False))
    assert made.settings == LanguageModelSettings()
    assert made.unless_stated == {}


def test_a_model_of_one_s_own_has_room_and_time_to_think() -> None:
    usual = LanguageModelSettings(engine="ollama", model="m")
    needs = Chosen(usual).unless_stated
    assert needs.keys() == {"maximum_tokens", "timeout_seconds"}
    wanted = LanguageModelSettings.model_validate({**usual.model_dump(), **needs})
    assert wanted.maximum_tokens > usual.maximum_tokens
    assert Chosen(LanguageModelSettings(engine="anthropic", model="m")).unless_stated == {}


@pytest.mark.parametrize("name", ["features", "none"])
def test_rerankers_without_a_model_have_names(name: str) -> None:
    assert reranker(name, "").engine == name


def test_a_reranker_at_an_address_needs_the_name_of_its_model() -> None:
    assert reranker("http://h/rerank", "m") == RerankSettings(
        engine="http", base_url="http://h/rerank", model="m"
    )
    with pytest.raises(UsageError) as caught:
        reranker("http://h/rerank", "")
    assert "--model" in caught.value.hint


def test_what_is_neither_a_folder_nor_an_address_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "model.onnx"
    file.touch()
    for name in (str(tmp_path / "missing"), str(file), "nope"):
        with pytest.raises(UsageError, match="neither a folder nor an address"):
            reranker(name, "")
