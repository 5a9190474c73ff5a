"""Which language a text is in."""

import pytest

from chapterhouse.text.language import detect


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
        ("", ""),
        ("42 17 3", ""),
        ("ok", ""),
    ],
)
def test_known_cases(text: str, language: str) -> None:
    assert detect(text) == language
