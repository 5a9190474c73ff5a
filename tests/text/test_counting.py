import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import chapterhouse
from chapterhouse.models.static import StaticEmbedder
from chapterhouse.text.counting import counted, estimate_tokens

SOURCES = sorted(Path(chapterhouse.__file__).parent.rglob("*.py"))
OWN_PLURAL = re.compile(r"'' if [^}]+ else 's'|'s' if [^}]+ else ''")


@pytest.mark.parametrize(
    ("number", "told"), [(0, "0 files"), (1, "1 file"), (2, "2 files"), (4904, "4,904 files")]
)
def test_a_number_stands_with_its_noun(number: int, told: str) -> None:
    assert counted(number, "file") == told


def test_a_plural_may_be_named() -> None:
    assert counted(1, "page is", "pages are") == "1 page is"
    assert counted(2, "page is", "pages are") == "2 pages are"


def test_no_module_makes_plurals_of_its_own() -> None:
    found = [path.name for path in SOURCES if OWN_PLURAL.search(path.read_text("utf-8"))]
    assert found == ["rounds.py"]  # seconds, which need not be whole


ENGLISH = (
    "The chapter house is the room in which a council met. It was named after the chapter that "
    "was read aloud before the members spoke, each from what he had read himself. "
) * 4


@given(st.text())
def test_an_estimate_is_never_negative_and_nothing_costs_nothing(text: str) -> None:
    assert estimate_tokens(text) >= 0
    assert estimate_tokens("") == 0


@given(st.text(), st.text())
def test_longer_texts_cost_no_less(one: str, other: str) -> None:
    assert (
        estimate_tokens(one + "\n" + other) >= max(estimate_tokens(one), estimate_tokens(other)) - 1
    )


def test_english_prose_is_estimated_within_a_fifth() -> None:
    exact = StaticEmbedder().count_tokens(ENGLISH)
    assert abs(estimate_tokens(ENGLISH) / exact - 1) < 0.2
