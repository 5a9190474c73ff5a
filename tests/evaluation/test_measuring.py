import pytest

from chapterhouse.evaluation.measuring import holds


@pytest.mark.parametrize(
    ("text", "wanted", "held"),
    [
        ("costs **80 euros** a\nmetre", "80 Euros a metre", True),
        ("| Fuel | 508400 |", "Fuel 508400", True),
        ("It costs **80 euros**.", "costs 80 euros.", True),
        ("ﬁle", "file", True),
        ("eighty", "80", False),
    ],
)
def test_a_text_is_held_marks_and_spaces_aside(text: str, wanted: str, *, held: bool) -> None:
    assert holds(text, ["something else", wanted]) is held
