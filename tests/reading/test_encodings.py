"""Texts in old encodings: guessed by their words, or taken as browsers take what they state."""

import pytest

from chapterhouse.reading.dispatch import read
from chapterhouse.reading.encodings import best_fit, decode, decode_stated
from chapterhouse.reading.limits import Limits

POLISH = "Zażółć gęślą jaźń: oni już zauważyli, że ktoś próbował wejść do środka, więc uciekł."
CZECH = "Už týdny jsme čekali, až přijde lepší počasí; příští měsíc má být tepleji a sušeji."
SLOVAK = "Keď sa ľudia zišli, najťažšie bolo začať. Žiadna výška ich však už nezľakla ďalej."
HUNGARIAN = "A hegyről lefelé sűrű köd szállt, és a völgyből őzek jöttek elő az erdő szélén túl."
ROMANIAN = "Creşterea preţurilor a fost de 54,5‰, iar în aceşti ani ţara şi-a schimbat înfăţişarea."
TURKISH = "Bankasının müdürü, başka bir ortağın adına çalıştığını söyledi: iş güç, yağmur, ığdır."
PORTUGUESE = "A observação não foi confirmada; as regiões põem em dúvida a decisão. Amanhã haverá."
FRENCH = "L’élève a reçu, après un été très chaud, une leçon de français ; où était-elle déjà ?"
GERMAN = (
    "„Größe“ ist für Mädchen und Jungen überall dasselbe – schön, dass es äußerst selten fehlt."
)
ICELANDIC = "Það er þó víst að hún kom aftur, ýmist með föður sínum eða bróður, í ágúst árið áður."
LATVIAN = "Pēc noklusējuma šī iespēja ir izslēgta; lūdzu, pārbaudiet, vai ierīce ir ieslēgta šeit."
TABLES = [
    *((text, name) for text in (POLISH, CZECH, SLOVAK, HUNGARIAN) for name in ("cp1250", "cp852")),
    *((text, "iso8859_2") for text in (POLISH, CZECH, SLOVAK, HUNGARIAN)),
    (ROMANIAN, "cp1250"),
    (TURKISH, "cp1254"),
    (TURKISH, "iso8859_9"),
    (PORTUGUESE, "iso8859_1"),
    (PORTUGUESE, "cp850"),
    (FRENCH, "cp1252"),
    (FRENCH, "mac_roman"),
    (GERMAN, "cp1252"),
    (ICELANDIC, "iso8859_1"),
    (LATVIAN, "cp1257"),
    ("Straße, Café, Málaga, Malmö, Citroën, Genève", "cp1252"),
]


@pytest.mark.parametrize(("text", "encoding"), TABLES)
def test_tables_of_the_latin_script_are_told_by_the_words(text: str, encoding: str) -> None:
    data = text.encode(encoding)
    assert decode(data)[0] == text
    assert best_fit(data).share > 0.9


def test_the_notice_says_the_family_and_what_to_do() -> None:
    (notice,) = decode(POLISH.encode("iso8859_2"))[1]
    assert "Central European (ISO 8859-2)" in notice.sentence
    assert notice.sentence.endswith("If letters look wrong, save it as UTF-8 and add it again.")


@pytest.mark.parametrize(
    ("label", "meant"),
    [
        ("ISO-8859-1", "cp1252"),
        ("latin1", "cp1252"),
        ("iso-8859-9", "cp1254"),
        ("TIS-620", "cp874"),
        ("iso-8859-11", "cp874"),
        ("shift_jis", "cp932"),
        ("gb2312", "gb18030"),
        ("iso-8859-1", "utf-8"),
    ],
)
def test_a_stated_subset_means_what_people_wrote_with(label: str, meant: str) -> None:
    text = {"cp932": "①髙", "gb18030": "朱镕基", "utf-8": POLISH}.get(meant, "“5” – … •")
    assert decode_stated(text.encode(meant), label) == (text, ())


@pytest.mark.parametrize("label", ["iso-8859-2", "iso-8859-7", "iso-8859-15"])
def test_control_codes_of_stated_tables_are_the_signs_of_windows(label: str) -> None:
    assert decode_stated("“54‰” – … €".encode("cp1250"), label) == ("“54‰” – … €", ())


@pytest.mark.parametrize(
    "label", ["utf-8", "us-ascii", "rot13", "idna", "unicode_escape", "nonsense", "\0"]
)
def test_a_statement_that_cannot_be_is_ignored(label: str) -> None:
    assert decode_stated(POLISH.encode("cp1250"), label) == decode(POLISH.encode("cp1250"))


def test_a_stray_byte_does_not_change_the_stated_encoding() -> None:
    text, (notice,) = decode_stated(
        "会社は新しい工場を開いた。".encode("cp932") * 20 + b"\x81", "shift_jis"
    )
    assert text.startswith("会社は新しい工場")
    assert notice.sentence == "1 character could not be decoded as Japanese (Shift JIS)."


def test_an_xml_feed_is_read_by_the_superset_of_what_it_states() -> None:
    data = '<?xml version="1.0" encoding="tis-620"?>\n<a>“ภาษาไทย” – ก</a>\n'.encode("cp874")
    extraction = read(data, "a.xml", Limits())
    assert "“ภาษาไทย” – ก" in extraction.pages[0].text
    assert extraction.notices == ()


@pytest.mark.parametrize(
    ("place", "codes"),
    [
        ("<script>/* \xff */</script>", []),
        ("<!-- \xff -->", []),
        ("<p>Fer\xffries</p>", ["undecodable-characters"]),
    ],
)
def test_a_bad_byte_counts_where_it_is_shown(place: str, codes: list[str]) -> None:
    page = f"<html><meta charset=utf-8><body><p>{'Fähren für alle. ' * 30}</p>@</body></html>"
    data = page.encode().replace(b"@", place.encode("latin-1"))
    assert [notice.code for notice in read(data, "a.html", Limits()).notices] == codes


def test_an_encoding_that_nobody_knows_is_called_so() -> None:
    data = bytes(range(0xC0, 0x100)) * 20
    (*_, notice) = read(data, "a.txt", Limits()).notices
    assert notice.code == "garbled-text"
    assert "its encoding was not recognised" in notice.sentence
