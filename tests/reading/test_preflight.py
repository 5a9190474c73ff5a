"""What is looked at before any parser: sizes, ZIP containers, declared entities, images."""

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reading.conftest import zipped

from chapterhouse.errors import RejectedError
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.pool import ReadingPool
from chapterhouse.reading.preflight import entities, expand_entities, preflight
from chapterhouse.reading.zip_directory import check_claims, inflate, read_directory


def test_preflight_is_quick_on_the_largest_files(limits: Limits) -> None:
    preflight(b"\n" * limits.file_bytes, "a.txt", limits)
    with pytest.raises(RejectedError, match="document type"):
        preflight(b"<!--" + b"<" * (limits.file_bytes - 5), "a.xml", limits)


@pytest.mark.parametrize("beyond", [-1, 0, 1])
def test_limits_hold_to_the_byte(limits: Limits, beyond: int) -> None:
    tight = replace(limits, file_bytes=1_000, line_bytes=500)
    line = b"x" * (500 + beyond)
    file = b"x\n" * 499 + b"x" * (2 + beyond)
    for data, wanted in ((line, "line-too-long"), (file, "too-large")):
        if beyond <= 0:
            preflight(data, "a.txt", tight)
        else:
            with pytest.raises(RejectedError) as caught:
                preflight(data, "a.txt", tight)
            assert caught.value.code == wanted


LIMITS = Limits()
FILES = {"a.xml": b"<a/>" * 25, "b.xml": b"<b/>" * 25, "c.xml": b"<c/>" * 25}  # 100 bytes each


def refused(data: bytes, limits: Limits = LIMITS) -> str:
    with pytest.raises(RejectedError) as told:
        check_claims(data, read_directory(data, limits), limits)
    return told.value.code


@pytest.mark.parametrize("stored", [(), tuple(FILES)], ids=["deflated", "stored"])
def test_entries_are_listed_and_come_out_as_they_went_in(stored: tuple[str, ...]) -> None:
    data = zipped(FILES, stored=stored)
    entries = read_directory(data, LIMITS)
    check_claims(data, entries, LIMITS)
    assert {one.name: inflate(data, one, 1_000) for one in entries} == FILES
    assert all(len(inflate(data, one, 10)) == 10 for one in entries)


def test_what_it_unpacks_to_is_bounded() -> None:
    for name, least in (
        ("archive_bytes", 300),
        ("archive_entry_bytes", 100),
        ("archive_entries", 3),
    ):
        assert len(read_directory(zipped(FILES), replace(LIMITS, **{name: least}))) == 3
        own = replace(LIMITS, **{name: least - 1})
        assert refused(zipped(FILES), own).startswith("archive-too-")


def test_an_entry_that_goes_on_after_its_size_is_damage() -> None:
    data = zipped({"a": bytes(1_000_000)})
    smaller = data.replace((1_000_000).to_bytes(4, "little"), (1_000).to_bytes(4, "little"))
    assert refused(smaller, replace(LIMITS, archive_entry_bytes=1_000)) == "archive-damaged"


LATIN = 'PUBLIC "-//W3C//ENTITIES Latin 1 for XHTML//EN" "http://www.w3.org/xhtml-lat1.ent"'


def declared(*pieces: str) -> str:
    return f"<!DOCTYPE a [{' '.join(pieces)}]>"


@pytest.mark.parametrize(
    ("declaration", "values"),
    [
        ("", {}),
        ("<!DOCTYPE html>", {}),
        ('<!doctype html PUBLIC "-//W3C//DTD [1.0]//EN" "http://x">', {}),
        (declared(), {}),
        (declared('<!ENTITY x "y">'), {"x": "y"}),
        (declared("<!ENTITY x 'it said \"y\"'>"), {"x": 'it said "y"'}),
        (declared('<!ENTITY x "y">', '<!ENTITY x "z">'), {"x": "y"}),
        (declared('<!ENTITY e "&#233;&#xE8;">'), {"e": "\u00e9\u00e8"}),
        (declared('<!ENTITY b "(&a;)">', '<!ENTITY a "x">'), {"b": "(x)", "a": "x"}),
        (declared('<!ENTITY b "&unknown; &#xD800;">'), {"b": "&unknown; &#xD800;"}),
        (declared('<!ENTITY lt "&#38;#60;">', '<!ENTITY x "y">'), {"x": "y"}),
        (declared("<!-- 'one ]> -->", "<?p ]> ?>", '<!ENTITY x "]>">'), {"x": "]>"}),
        (declared("<!ELEMENT a (b|c)*>", '<!ATTLIST a b CDATA "]">'), {}),
        (declared(f"<!ENTITY % HTMLlat1 {LATIN}>"), {}),
    ],
)
def test_plain_characters_have_names(declaration: str, values: dict[str, str]) -> None:
    found = entities(f"{declaration}<a>&x;</a>")
    assert found.values == values
    assert found.length == len(declaration.removesuffix(">"))


@pytest.mark.parametrize(
    ("pieces", "reason"),
    [
        (['<!ENTITY x SYSTEM "file:///etc/passwd">'], "'x' leads out of the file"),
        ([f"<!ENTITY x {LATIN}>"], "'x' leads out of the file"),
        (['<!ENTITY x SYSTEM "a.gif" NDATA gif>'], "'x' leads out of the file"),
        ([f"<!ENTITY % p {LATIN}>", "%p;"], "uses the parameter entity 'p'"),
        (["<!ENTITY % p \"<!ENTITY x 'y'>\">", "%p;"], "'p' is a parameter entity"),
        (['<!ENTITY x "<b>y</b>">'], "'x' holds markup"),
        (['<!ENTITY x "&#60;b>">'], "'x' holds markup"),
        ([f'<!ENTITY x "{"y" * 1_001}">'], "'x' stands for more than 1,000 characters"),
        (['<!ENTITY x "&x;">'], "'x' stands too deep in others, or in itself"),
        (['<!ENTITY x "&y;">', '<!ENTITY y "&x;">'], "too deep in others"),
        ([f'<!ENTITY e{n} "&e{n + 1};">' for n in range(6)] + ['<!ENTITY e6 "y">'], "too deep"),
        ([f'<!ENTITY e{n} "y">' for n in range(1_001)], "more than 1,000 entities"),
        (['<!ENTITY x "y>'], "cannot be understood"),
        (["<!ENTITY x y>"], "cannot be understood"),
        (["junk"], "cannot be understood"),
    ],
)
def test_what_is_more_than_characters_is_refused(pieces: list[str], reason: str) -> None:
    with pytest.raises(RejectedError) as caught:
        entities(declared(*pieces))
    assert caught.value.code == "xml-doctype"
    assert reason in caught.value.message


def test_comments_and_quoted_sections_keep_their_words_and_no_file_grows_much() -> None:
    text = "<a>&x;<![CDATA[&x;]]><!-- &x; -->&y; &amp;</a>"
    assert expand_entities(text, {"x": "1"}) == "<a>1<![CDATA[&x;]]><!-- &x; -->&y; &amp;</a>"
    with pytest.raises(RejectedError, match="grow"):
        expand_entities("&x;" * 10_000, {"x": "y" * 1_000})


def test_long_declarations_end_in_a_reason() -> None:
    hard = "".join(f'<!ENTITY e{n} "{f"&e{n + 1};" * 300}">' for n in range(900))
    with pytest.raises(RejectedError):
        entities(f"<!DOCTYPE a [{hard}]>")
    with pytest.raises(RejectedError):
        entities("<!DOCTYPE a [" + "<!ENTITY x '" * 100_000)


@given(st.text(alphabet="<!ENTITY DOCTYPE[]%&;'\"x>-?#1 ", max_size=60))
def test_any_declaration_ends_in_entities_or_a_reason(text: str) -> None:
    with suppress(RejectedError):
        found = entities(f"<!DOCTYPE {text}")
        assert all("<" not in value for value in found.values.values())


@pytest.mark.parametrize("name", ["linuxbox.hu", "pihgy.hu", "weblabor.hu", "weblabor.hu.2"])
def test_old_feeds_are_read(name: str, data_folder: Path, pool: ReadingPool) -> None:
    path = data_folder / "documents" / "chardet-encodings" / "tests" / "utf-8" / f"{name}.xml"
    found = pool.read(path.read_bytes(), path.name)
    assert found.format == "xml"
    assert "<rss" in found.pages[0].text
