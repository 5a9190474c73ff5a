"""Entities that XML declares: characters are written out, all else is refused with a reason."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.errors import RejectedError
from chapterhouse.reading.pool import ReadingPool
from chapterhouse.reading.xml_guard import entities, expand_entities

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


def test_comments_and_quoted_sections_keep_their_words() -> None:
    text = "<a>&x;<![CDATA[&x;]]><!-- &x; -->&y; &amp;</a>"
    assert expand_entities(text, {"x": "1"}) == "<a>1<![CDATA[&x;]]><!-- &x; -->&y; &amp;</a>"


def test_entities_cannot_make_a_file_grow_much() -> None:
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
