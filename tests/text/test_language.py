"""Which language a text is in."""

import pytest

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
