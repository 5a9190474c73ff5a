import pytest

from chapterhouse.answering.request import AskOptions, library_request
from chapterhouse.settings import Settings


def settings(**changes: dict[str, object]) -> Settings:
    return Settings.model_validate(changes)


def test_what_the_caller_leaves_open_the_settings_decide() -> None:
    of = settings(answer={"words": 40}, packing={"maximum": 900})
    left_open = library_request("When?", of, AskOptions())
    assert (left_open.form.words, left_open.max_tokens, left_open.model) == (40, 900, "")
    assert left_open.persona is None
    stated = library_request("When?", of, AskOptions(words=70, model="none", tags=("tide",)))
    assert (stated.form.words, stated.model, stated.tags) == (70, "none", ("tide",))


@pytest.mark.parametrize(
    ("shelves", "sees"), [(None, True), ((), False), (("a", "b"), True), (("b",), False)]
)
def test_no_shelf_is_not_every_shelf(shelves: tuple[str, ...] | None, *, sees: bool) -> None:
    made = library_request("When?", Settings(), AskOptions(shelves=shelves))
    assert made.scope.sees(("a",)) is sees


@pytest.mark.parametrize("enabled", [True, False])
@pytest.mark.parametrize("cache", [True, False])
@pytest.mark.parametrize("remember", [True, False])
@pytest.mark.parametrize("use_cache", [True, False])
def test_all_agree_to_keep(*, enabled: bool, cache: bool, remember: bool, use_cache: bool) -> None:
    of = settings(memory={"enabled": enabled}, answer={"cache": cache})
    made = library_request("When?", of, AskOptions(remember=remember, use_cache=use_cache))
    assert made.remember == (enabled and remember)
    assert made.use_cache == (enabled and cache and remember and use_cache)
