import pytest

from chapterhouse.council.spoken.wordings import leaning_of, stance_of
from chapterhouse.types import Leaning, Stance


@pytest.mark.parametrize("stance", list(Stance))
def test_a_stance_by_its_name(stance: Stance) -> None:
    assert stance_of(stance.value.upper()) is stance


@pytest.mark.parametrize("leaning", list(Leaning))
def test_a_leaning_by_its_name(leaning: Leaning) -> None:
    assert leaning_of(leaning.value) is leaning


@pytest.mark.parametrize(
    ("written", "stance"),
    [
        ("agree", Stance.SUPPORTS),
        ("I fully agree.", Stance.SUPPORTS),
        ("confirmed", Stance.SUPPORTS),
        ("Yes", Stance.SUPPORTS),
        ("stimme zu", Stance.SUPPORTS),
        ("disagree", Stance.CONTRADICTS),
        ("does not support", Stance.CONTRADICTS),
        ("doesn’t support it", Stance.CONTRADICTS),
        ("not supported", Stance.CONTRADICTS),
        ("widerspricht", Stance.CONTRADICTS),
        ("false", Stance.CONTRADICTS),
        ("no evidence", Stance.SILENT),
        ("cannot confirm", Stance.SILENT),
        ("partially supports", Stance.SILENT),
        ("", Stance.SILENT),
        ("perhaps", Stance.SILENT),
        ("x" * 300 + " agree", Stance.SILENT),
    ],
)
def test_stances_in_other_words(written: str, stance: Stance) -> None:
    assert stance_of(written) is stance
