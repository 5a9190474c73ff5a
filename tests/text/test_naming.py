import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.text.naming import (
    SLUG_MAXIMUM,
    document_id,
    printable_name,
    slug,
    source_name,
    storable_path,
    system_path,
)
from chapterhouse.text.sanitise import sanitise

# Also what a POSIX file name can hold and no text can: stray bytes as lone surrogates.
NAMES = st.text(
    # What a system can name a file: text, and stray bytes as Python spells them (PEP 383).
    st.one_of(
        st.characters(exclude_categories=["Cs"]),
        st.characters(min_codepoint=0xDC80, max_codepoint=0xDCFF),
    ),
    min_size=1,
    max_size=60,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Travel Policy (final) v2", "travel-policy-final-v2"),
        ("Été à Zürich — Straße", "ete-a-zurich-strasse"),
        ("отчёт 2024", "отчёт-2024"),
        ("四半期報告書", "四半期報告書"),
        ("हिन्दी", "हिन्दी"),
        ("ﬁle № １２", "file-no-12"),
        ("🙂🙂", "document"),
        ("...", "document"),
        ("a/b\\c:d]e[f^g", "a-b-c-d-e-f-g"),
        ("word " * 20, "word-word-word-word-word-word-word-word"),
        ("x" * 60, "x" * 40),
    ],
)
def test_slugs(text: str, expected: str) -> None:
    assert slug(text) == expected


@given(NAMES)
def test_slugs_and_ids_are_safe_in_a_citation_and_in_a_path(text: str) -> None:
    result = slug(text)
    assert 1 <= len(result) <= SLUG_MAXIMUM
    assert result.strip("-") == result
    assert "--" not in result
    for character in result.replace("-", ""):
        assert unicodedata.category(character)[0] in "LNM"
        assert not (character.isascii() and character.isupper())
    result.encode()
    identifier = document_id(printable_name(text))
    assert not set(identifier) & set(" :/\\[]^|<>\"'`#?&%")
    assert len(identifier) <= SLUG_MAXIMUM + 9


def test_ids_differ_by_the_whole_source() -> None:
    assert document_id("a/Badge policy.pdf") == "badge-policy-52652999"
    assert document_id("b/Badge policy.pdf") != document_id("a/Badge policy.pdf")
    assert document_id("a/Badge policy.md") != document_id("a/Badge policy.pdf")
    assert document_id("a/.hidden").startswith("hidden-")


@given(NAMES)
def test_a_printable_name_hides_nothing_and_can_be_stored(name: str) -> None:
    shown = printable_name(name)
    shown.encode()
    assert "\n" not in shown
    assert "\t" not in shown
    assert sanitise(shown).text == shown
    assert printable_name(shown) == shown


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("plain name.txt", "plain name.txt"),
        ("Cafe\u0301.md", "Caf\u00e9.md"),
        ("evil\u202efdp.exe", "evil\\u202efdp.exe"),
        ("two\nlines", "two\\u000alines"),
        ("stray\udcff.txt", "stray\\xff.txt"),
        ("tag\U000e0041.txt", "tag\\U000e0041.txt"),
        ("heart\u2764\ufe0f.md", "heart\u2764.md"),
    ],
)
def test_printable_names(name: str, expected: str) -> None:
    assert printable_name(name) == expected


@given(st.lists(NAMES, min_size=1, max_size=4))
def test_a_source_has_one_stroke_between_names_and_a_stored_path_leads_back(
    parts: list[str],
) -> None:
    plain = [part.replace("/", "_") for part in parts]
    assert source_name("root", plain).split("/") == ["root", *map(printable_name, plain)]
    for path in parts:
        stored = storable_path(path)
        stored.encode()
        assert stored == path or any(0xD800 <= ord(character) <= 0xDFFF for character in path)
        assert "\\x" in path or system_path(stored) == path
