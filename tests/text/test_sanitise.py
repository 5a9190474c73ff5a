"""No invisible character survives, over every scalar value there is."""

import itertools
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.text.sanitise import INVISIBLE_RANGES, sanitise, sanitise_line

SCALARS = [code for code in range(sys.maxunicode + 1) if not 0xD800 <= code <= 0xDFFF]
LINE_ENDS = "\r\n\x0b\x0c\x85\u2028\u2029"
# Default_Ignorable_Code_Point, DerivedCoreProperties.txt of Unicode 16.
IGNORABLE = {
    0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810),
    *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070), 0x3164,
    *range(0xFE00, 0xFE10), 0xFEFF, 0xFFA0, *range(0xFFF0, 0xFFF9), *range(0x1BCA0, 0x1BCA4),
    *range(0x1D173, 0x1D17B), *range(0xE0000, 0xE1000),
}  # fmt: skip


def is_forbidden(code: int) -> bool:
    character = chr(code)
    if character in "\t\n":
        return False
    noncharacter = 0xFDD0 <= code <= 0xFDEF or code & 0xFFFE == 0xFFFE
    category = unicodedata.category(character)
    return category in {"Cc", "Cf", "Cs", "Co"} or noncharacter or code in IGNORABLE


def test_there_are_as_many_scalar_values_as_unicode_says() -> None:
    assert len(SCALARS) == 1_112_064
    assert len(IGNORABLE) == 4_174


@pytest.mark.parametrize("end", LINE_ENDS)
def test_every_line_end_is_a_line_feed(end: str) -> None:
    assert sanitise(f"a{end}b").text == "a\nb"


def test_every_other_scalar_is_kept_or_removed() -> None:
    others = [code for code in SCALARS if chr(code) not in LINE_ENDS + "\n"]
    lines = sanitise("\n".join(f"a{chr(code)}b" for code in others)).text.split("\n")
    for code, text in zip(others, lines, strict=True):
        if is_forbidden(code):
            assert text == "ab", hex(code)
        else:
            assert text in {f"a{chr(code)}b", "ab"}, hex(code)
            if text == "ab":  # only what a later Unicode made a format character
                assert unicodedata.category(chr(code)) == "Cn", hex(code)


def test_surrogates_are_removed() -> None:
    assert sanitise("a\ud800b\udfffc").text == "abc"


def test_the_ranges_do_not_overlap() -> None:
    ordered = sorted(INVISIBLE_RANGES)
    assert all(first <= last for first, last in ordered)
    assert all(one[1] < other[0] for one, other in itertools.pairwise(ordered))


@given(st.text())
def test_sanitising_twice_changes_nothing(text: str) -> None:
    once = sanitise(text)
    assert sanitise(once.text) == once.__class__(once.text, 0)


@given(st.text(alphabet=st.characters(min_codepoint=32, max_codepoint=126)))
def test_ordinary_text_is_untouched(text: str) -> None:
    assert sanitise(text).text == text


def test_harmless_removals_are_not_counted() -> None:
    assert sanitise("\ufeffco\u00adop \u200bx").removed == 1


def test_control_and_private_characters_are_counted_apart() -> None:
    found = sanitise("a\u200bb\x12c\ue000d\u202e")
    assert (found.text, found.removed, found.unknown) == ("abcd", 4, 2)


def test_line_ends_become_line_feeds() -> None:
    assert sanitise("a\r\nb\rc\x0cd\u2028e").text == "a\nb\nc\nd\ne"


def test_a_name_becomes_one_line() -> None:
    assert sanitise_line(" a\u202e\r\n  b\t c ") == "a b c"
