"""Text decoded by the wrong table is found, and decoded again where its own table is known."""

import json
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.reading.dispatch import read
from chapterhouse.reading.garbled import decoded_again, is_garbled, legible, repair
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.ole import compound_file
from chapterhouse.types import ExtractedPage, Extraction

RUSSIAN = "Компания открыла новый завод в Екатеринбурге. Директор сказал, что рабочие довольны."
GREEK = "Η εταιρεία άνοιξε ένα νέο εργοστάσιο στην Αθήνα. Ο διευθυντής είπε ότι όλα πάνε καλά."
HEBREW = "החברה פתחה מפעל חדש בעיר. המנהל אמר כי המוצרים יסופקו לאזורים שונים במדינה."
ARABIC = "افتتحت الشركة مصنعا جديدا في المدينة وقال المدير إن المنتجات سوف تصل إلى جميع المناطق."
JAPANESE = (
    "会社は新しい工場を開いた。社長は製品が全国に供給されると言った。給料はもらえるでしょう。"
)
CHINESE = "公司在北京开设了一家新的工厂。主任说，产品将供应到全国各地，工人们会得到好的工资。"
KOREAN = "회사는 서울에 새로운 공장을 열었다. 사장은 제품이 전국에 공급될 것이라고 말했다."
FRENCH = "C'était l'été à la crèche : « À demain » dit-il, naïf – déjà vu où ça ?"
ENGLISH = "An ordinary paragraph about ferries, and about a café. " * 5
TABLES = [
    *((RUSSIAN, name) for name in ("cp1251", "koi8_r", "cp866", "iso8859_5", "mac_cyrillic")),
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


UTF_8 = (RUSSIAN, FRENCH, GREEK, "„Größe“ – schön, Mädchen: Straße…")
WRONG = western(RUSSIAN.encode("cp1251"))
REPAIRED = [
    *((western(text.encode(name)), text) for text, name in TABLES),
    *((western(text.encode()), text) for text in UTF_8),
    *((text.encode().decode("latin-1"), text) for text in UTF_8),
    (f"{ENGLISH}\n{WRONG}\n{ENGLISH}", f"{ENGLISH}\n{RUSSIAN}\n{ENGLISH}"),  # these lines alone
    (
        western(f"Отчёт\n{RUSSIAN}".encode("cp1251")),
        f"Отчёт\n{RUSSIAN}",
    ),  # or all
]


@pytest.mark.parametrize(("wrong", "text"), REPAIRED, ids=range(len(REPAIRED)))
def test_text_decoded_by_the_wrong_table_is_decoded_again(wrong: str, text: str) -> None:
    assert is_garbled(wrong)
    assert not is_garbled(text)
    assert repair(wrong) == text


def test_signs_that_stand_for_nothing_are_garbled() -> None:
    as_utf_16 = (ENGLISH * 4).encode("ascii", "ignore")[:800].decode("utf-16-le")
    for text in ("\ue001\ue002\ue003 " * 20, "\ufffd" * 30 + "abc", as_utf_16):
        assert is_garbled(text)
    for text in ("\uf0b7 one item of a list\n" * 50, CHINESE * 10):
        assert not is_garbled(text)


def test_a_text_that_shows_mistaken_signs_keeps_them() -> None:
    text = f"{FRENCH} Où l'on voit Ã©, le fichier est en UTF-8."
    assert not is_garbled(text)
    assert repair(text) == text


@given(st.text(st.characters(codec="utf-8"), max_size=200))
def test_repairing_never_fails_and_leaves_what_is_not_garbled(text: str) -> None:
    again = repair(text)
    if not is_garbled(text):
        assert again == text


@given(st.binary(max_size=300))
def test_decoding_again_undoes_the_western_table(data: bytes) -> None:
    assert decoded_again(western(data), "latin-1") == data.decode("latin-1")


def pages(*texts: str, title: str = "") -> Extraction:
    return Extraction(tuple(map(ExtractedPage, texts)), "doc", "test", title=title)


def test_an_extraction_is_repaired_with_its_title_and_says_so() -> None:
    wrong = western(RUSSIAN.encode("cp1251"))
    found = legible(pages(wrong, "", wrong, title=western("Отчёт".encode("cp1251"))))
    assert [page.text for page in found.pages] == [RUSSIAN, "", RUSSIAN]
    assert found.title == "Отчёт"
    assert [notice.code for notice in found.notices] == ["encoding-guessed"]


def test_what_cannot_be_repaired_is_partial() -> None:
    found = legible(pages("\ue001\ue002\ue003 " * 20))
    assert [notice.code for notice in found.notices] == ["garbled-text"]
    assert legible(pages(ENGLISH)) == pages(ENGLISH)


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
        (RUSSIAN, "cp1251", 0x419, 0),
        (RUSSIAN, "cp1251", 0x409, 1),  # written with an English Word
        ("Zażółć gęślą jaźń", "cp1250", 0x415, 0),
        (FRENCH, "cp1252", 0x40C, 0),
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
        (rb"{\rtf1\ansi\ansicpg1251 ", "cp1251", RUSSIAN),
        (rb"{\rtf1\ansi ", "cp1252", "café crème"),
        (rb"{\rtf1\mac ", "mac_roman", "café crème"),
    ):
        extraction = read(head + text.encode(encoding) + rb"\par}", "a.rtf", Limits())
        assert extraction.pages[0].text == f"{text}\n"
        assert extraction.notices == ()


def test_korean_of_a_wrong_font_is_garbled_in_a_pdf_alone() -> None:
    wrong = "스마트 데이터 컪비스 훟심 컴퓨팅 보안 기술 팢솒쭖쩣먾헏몒몋캏윦캏푷퓒칺몮픟"
    pages = (ExtractedPage(wrong, 1),)
    (notice,) = legible(Extraction(pages, "pdf", "")).notices
    assert notice.code == "garbled-text"
    assert "wrong or no map of characters" in notice.sentence
    assert legible(Extraction(pages, "txt", "")).notices == ()
    assert legible(Extraction((ExtractedPage(KOREAN * 9, 1),), "pdf", "")).notices == ()


@pytest.mark.parametrize("name", ["xquad-zh", "xquad-ar", "xquad-de"])
def test_real_text_is_not_garbled(data_folder: Path, name: str) -> None:
    lines = (data_folder / "retrieval" / name / "corpus.jsonl").read_text("utf-8").splitlines()
    assert not any(is_garbled(json.loads(line)["text"]) for line in lines)
