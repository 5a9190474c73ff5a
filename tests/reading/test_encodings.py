"""Texts in old encodings: guessed by their words, or taken as browsers take what they state."""

import json
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reading.conftest import codes

from chapterhouse.reading.dispatch import read
from chapterhouse.reading.encodings import best_fit, decode, decode_stated
from chapterhouse.reading.garbled import decoded_again, is_garbled, legible, repair
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.ole import compound_file
from chapterhouse.types import ExtractedPage, Extraction

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


def test_control_codes_of_stated_tables_are_the_signs_of_windows() -> None:
    for label in ("iso-8859-2", "iso-8859-7", "iso-8859-15"):
        assert decode_stated("“54‰” – … €".encode("cp1250"), label) == ("“54‰” – … €", ())
    data = POLISH.encode("cp1250")  # what cannot be stated is ignored
    for label in ("utf-8", "us-ascii", "rot13", "idna", "unicode_escape", "nonsense", "\0"):
        assert decode_stated(data, label) == decode(data)


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
    ("place", "said"),
    [
        ("<script>/* \xff */</script>", []),
        ("<!-- \xff -->", []),
        ("<p>Fer\xffries</p>", ["undecodable-characters"]),
    ],
)
def test_a_bad_byte_counts_where_it_is_shown(place: str, said: list[str]) -> None:
    page = f"<html><meta charset=utf-8><body><p>{'Fähren für alle. ' * 30}</p>@</body></html>"
    data = page.encode().replace(b"@", place.encode("latin-1"))
    assert codes(read(data, "a.html", Limits())) == said


def test_an_encoding_that_nobody_knows_is_called_so() -> None:
    data = bytes(range(0xC0, 0x100)) * 20
    (*_, notice) = read(data, "a.txt", Limits()).notices
    assert notice.code == "garbled-text"
    assert "its encoding was not recognised" in notice.sentence


# --- Text decoded by the wrong table is found, and decoded again where its own table is known ----

NEWS = "Компания открыла новый завод в Екатеринбурге. Директор сказал, что рабочие довольны."
GREEK = "Η εταιρεία άνοιξε ένα νέο εργοστάσιο στην Αθήνα. Ο διευθυντής είπε ότι όλα πάνε καλά."
HEBREW = "החברה פתחה מפעל חדש בעיר. המנהל אמר כי המוצרים יסופקו לאזורים שונים במדינה."
ARABIC = "افتتحت الشركة مصنعا جديدا في المدينة وقال المدير إن المنتجات سوف تصل إلى جميع المناطق."
JAPANESE = (
    "会社は新しい工場を開いた。社長は製品が全国に供給されると言った。給料はもらえるでしょう。"
)
CHINESE = "公司在北京开设了一家新的工厂。主任说，产品将供应到全国各地，工人们会得到好的工资。"
KOREAN = "회사는 서울에 새로운 공장을 열었다. 사장은 제품이 전국에 공급될 것이라고 말했다."
FRENCH_TALK = "C'était l'été à la crèche : « À demain » dit-il, naïf – déjà vu où ça ?"
ENGLISH = "An ordinary paragraph about ferries, and about a café. " * 5
WRONG_TABLES = [
    *((NEWS, name) for name in ("cp1251", "koi8_r", "cp866", "iso8859_5", "mac_cyrillic")),
    (GREEK, "cp1253"),
    (HEBREW, "cp1255"),
    (ARABIC, "cp1256"),
    (JAPANESE, "euc_jp"),
    (CHINESE, "gb18030"),
    (KOREAN, "cp949"),
]


def western(data: bytes) -> str:
    """Decode as programs do that take everything for Windows-1252."""
    return "".join(
        bytes([byte]).decode("cp1252", "ignore") or bytes([byte]).decode("latin-1") for byte in data
    )


UTF_8 = (NEWS, FRENCH_TALK, GREEK, "„Größe“ – schön, Mädchen: Straße…")
WRONG = western(NEWS.encode("cp1251"))
REPAIRED = [
    *((western(text.encode(name)), text) for text, name in WRONG_TABLES),
    *((western(text.encode()), text) for text in UTF_8),
    *((text.encode().decode("latin-1"), text) for text in UTF_8),
    (
        f"{ENGLISH}\n{WRONG}\n{ENGLISH}",
        f"{ENGLISH}\n{NEWS}\n{ENGLISH}",
    ),  # these lines alone
    (
        western(f"Отчёт\n{NEWS}".encode("cp1251")),
        f"Отчёт\n{NEWS}",
    ),  # or all
]


@pytest.mark.parametrize(("wrong", "text"), REPAIRED, ids=range(len(REPAIRED)))
def test_text_decoded_by_the_wrong_table_is_decoded_again(wrong: str, text: str) -> None:
    assert is_garbled(wrong)
    assert not is_garbled(text)
    assert repair(wrong) == text


def test_signs_that_stand_for_nothing_are_garbled_and_mistaken_signs_that_are_shown_stay() -> None:
    as_utf_16 = (ENGLISH * 4).encode("ascii", "ignore")[:800].decode("utf-16-le")
    for text in ("\ue001\ue002\ue003 " * 20, "\ufffd" * 30 + "abc", as_utf_16):
        assert is_garbled(text)
    shown = f"{FRENCH_TALK} Où l'on voit Ã©, le fichier est en UTF-8."
    for text in ("\uf0b7 one item of a list\n" * 50, CHINESE * 10, shown):
        assert not is_garbled(text)
    assert repair(shown) == shown


@given(st.text(st.characters(codec="utf-8"), max_size=200))
def test_repairing_never_fails_and_leaves_what_is_not_garbled(text: str) -> None:
    again = repair(text)
    if not is_garbled(text):
        assert again == text


@given(st.binary(max_size=300))
def test_decoding_again_undoes_the_western_table(data: bytes) -> None:
    assert decoded_again(western(data), "latin-1") == data.decode("latin-1")


def extracted(*texts: str, title: str = "") -> Extraction:
    return Extraction(tuple(map(ExtractedPage, texts)), "doc", "test", title=title)


def test_an_extraction_is_repaired_with_its_title_and_says_so() -> None:
    wrong = western(NEWS.encode("cp1251"))
    found = legible(extracted(wrong, "", wrong, title=western("Отчёт".encode("cp1251"))))
    assert [page.text for page in found.pages] == [NEWS, "", NEWS]
    assert found.title == "Отчёт"
    assert codes(found) == ["encoding-guessed"]


def test_what_cannot_be_repaired_is_partial() -> None:
    found = legible(extracted("\ue001\ue002\ue003 " * 20))
    assert codes(found) == ["garbled-text"]
    assert legible(extracted(ENGLISH)) == extracted(ENGLISH)


def word_95(text: str, encoding: str, language: int) -> bytes:
    """A Word 95 file: a header that tells where its bytes stand, and those."""
    stored = text.encode(encoding) + b"\r"
    header = bytearray(0x300)
    struct.pack_into("<4H", header, 0, 0xA5EC, 104, 0xC02D, language)
    struct.pack_into("<2I", header, 0x18, len(header), len(header) + len(stored))
    struct.pack_into("<I", header, 0x34, len(stored))
    return compound_file({"WordDocument": bytes(header) + stored})


@pytest.mark.parametrize(
    ("text", "encoding", "language", "notices"),
    [
        (NEWS, "cp1251", 0x419, 0),
        (NEWS, "cp1251", 0x409, 1),  # written with an English Word
        ("Zażółć gęślą jaźń", "cp1250", 0x415, 0),
        (FRENCH_TALK, "cp1252", 0x40C, 0),
    ],
)
def test_old_word_files_are_read_by_the_table_of_their_language(
    text: str, encoding: str, language: int, notices: int
) -> None:
    extraction = read(word_95(text, encoding, language), "a.doc", Limits())
    assert extraction.pages[0].text == f"{text}\n"
    assert len(extraction.notices) == notices


def test_rtf_with_bytes_of_its_own_table_is_read() -> None:
    for head, encoding, text in (
        (rb"{\rtf1\ansi\ansicpg1251 ", "cp1251", NEWS),
        (rb"{\rtf1\ansi ", "cp1252", "café crème"),
        (rb"{\rtf1\mac ", "mac_roman", "café crème"),
    ):
        extraction = read(head + text.encode(encoding) + rb"\par}", "a.rtf", Limits())
        assert extraction.pages[0].text == f"{text}\n"
        assert extraction.notices == ()


def test_korean_of_a_wrong_font_is_garbled_in_a_pdf_alone() -> None:
    wrong = "스마트 데이터 컪비스 훟심 컴퓨팅 보안 기술 팢솒쭖쩣먾헏몒몋캏윦캏푷퓒칺몮픟"
    extracted = (ExtractedPage(wrong, 1),)
    (notice,) = legible(Extraction(extracted, "pdf", "")).notices
    assert notice.code == "garbled-text"
    assert "wrong or no map of characters" in notice.sentence
    assert legible(Extraction(extracted, "txt", "")).notices == ()
    assert legible(Extraction((ExtractedPage(KOREAN * 9, 1),), "pdf", "")).notices == ()


@pytest.mark.parametrize("name", ["xquad-zh", "xquad-ar", "xquad-de"])
def test_real_text_is_not_garbled(data_folder: Path, name: str) -> None:
    lines = (data_folder / "retrieval" / name / "corpus.jsonl").read_text("utf-8").splitlines()
    assert not any(is_garbled(json.loads(line)["text"]) for line in lines)
