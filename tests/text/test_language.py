"""Which language and script a text is in, and what stands in for words there."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.text.counting import east_asian_letters, letter_groups, script_language
from chapterhouse.text.language import detect, foreign_to


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The harbour master closes the gate when the wind rises above force eight.", "en"),
        ("Der Hafenmeister schließt das Tor, wenn der Wind stärker als acht wird.", "de"),
        ("Le capitaine ferme la porte du port quand le vent se lève trop fort.", "fr"),
        ("Начальник порта закрывает ворота, когда поднимается сильный ветер.", "ru"),
        ("港务长在风力超过八级时关闭大门。", "zh"),
        ("港長は風が強くなると門を閉めます。", "ja"),
        ("바람이 강해지면 항만장은 문을 닫습니다.", "ko"),
        ("كم عدد السكان؟", "ar"),
        ("این کتاب خوب است", "fa"),
        ("یہ اردو میں لکھا ہوا ہے", "ur"),
        ("מתי נסגר השער?", "he"),
        ("Коли зачиняється порт і його ворота?", "uk"),
        ("Пристаништето се затвора, ќе врне", "mk"),
        ("Πότε κλείνει η πύλη;", "el"),
        ("द्वार कब बन्द होता है", "hi"),
        ("ประตูปิดเมื่อไร", "th"),
        ("The Arabic word كتاب means book, and the harbour master has many of them.", "en"),
        ("", ""),
        ("42 17 3", ""),
        ("ok", ""),
    ],
)
def test_known_cases(text: str, language: str) -> None:
    assert detect(text) == language


@pytest.mark.parametrize(
    ("question", "languages", "foreign"),
    [
        ("What is the notice period?", ("de", "fr"), "en"),
        ("Quel est le délai de préavis ?", ("de", ""), "fr"),
        ("停泊费是多少？", ("en",), "zh"),
        ("What is the notice period?", ("en", "de"), ""),
        ("Hvad er opsigelsesperioden for kontrakten?", ("no",), ""),  # too much alike
        ("mercury limit", ("de",), ""),
        ("What is the notice period?", ("",), ""),
        ("What is the notice period?", (), ""),
    ],
)
def test_a_question_in_another_language_than_the_documents(
    question: str, languages: tuple[str, ...], foreign: str
) -> None:
    assert foreign_to(question, languages) == foreign


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("", set()),
        ("a", {" a"}),
        ("the", {" the"}),
        ("Boats,", {" boa", "boat", "oats"}),
        ("ＢＯＡＴＳ", {" boa", "boat", "oats"}),
        ("渡轮。", {"渡", "轮"}),
    ],
)
def test_known_groups(text: str, groups: set[str]) -> None:
    assert letter_groups(text) == groups


@given(st.text(max_size=40), st.text(max_size=40))
def test_a_text_has_the_groups_of_its_words(one: str, other: str) -> None:
    assert all(len(group) <= 4 for group in letter_groups(one))
    if one.isascii() and other.isascii():
        assert letter_groups(f"{one} {other}") == letter_groups(one) | letter_groups(other)


@pytest.mark.parametrize(
    ("text", "language", "letters"),
    [
        ("渡轮时刻表", "zh", 5),
        ("フェリーの時刻", "ja", 7),
        ("여객선 시간표", "ko", 6),
        ("𠮷野家", "zh", 3),  # the first is beyond the basic plane
        ("，。！", "", 0),
        ("เรือข้ามฟาก", "th", 0),
        ("ferry", "", 0),
        ("", "", 0),
    ],
)
def test_scripts_without_spaces(text: str, language: str, letters: int) -> None:
    assert script_language(text) == language
    assert east_asian_letters(text) == letters
