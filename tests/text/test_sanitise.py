"""No invisible character survives, over every scalar value that may be a character."""

import itertools
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.text.sanitise import INVISIBLE_RANGES, sanitise, sanitise_line

# Every scalar value, of the planes 4 to 13, which have no characters, one in 64 and the last ones.
SCALARS = [
    code
    for code in range(sys.maxunicode + 1)
    if not 0xD800 <= code <= 0xDFFF
    and (not 0x40000 <= code < 0xE0000 or not code % 64 or code & 0xFFFE == 0xFFFE)
]
LINE_ENDS = "\r\n\x0b\x0c\x85\u2028\u2029"
# Default_Ignorable_Code_Point, DerivedCoreProperties.txt of Unicode 16.
IGNORABLE = {
    0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810),
    *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070), 0x3164,
    *range(0xFE00, 0xFE10), 0xFEFF, 0xFFA0, *range(0xFFF0, 0xFFF9), *range(0x1BCA0, 0x1BCA4),
    *range(0x1D173, 0x1D17B), *range(0xE0000, 0xE1000),
}  # fmt: skip


def is_forbidden(code: int) -> bool:
    if chr(code) in "\t\n":
        return False
    noncharacter = 0xFDD0 <= code <= 0xFDEF or code & 0xFFFE == 0xFFFE
    hidden = unicodedata.category(chr(code)) in {"Cc", "Cf", "Cs", "Co"}
    return hidden or noncharacter or code in IGNORABLE


@pytest.mark.parametrize("end", LINE_ENDS)
def test_every_line_end_is_a_line_feed(end: str) -> None:
    assert sanitise(f"a{end}b").text == "a\nb"


def test_every_other_scalar_is_kept_or_removed() -> None:
    others = [code for code in SCALARS if chr(code) not in LINE_ENDS + "\n"]
    lines = sanitise("\n".join(f"a{chr(code)}b" for code in others)).text.split("\n")
    removed = {code for code, text in zip(others, lines, strict=True) if text == "ab"}
    kept = [text for text in lines if text != "ab"]
    assert kept == [f"a{chr(code)}b" for code in others if code not in removed]
    wanted = {code for code in others if is_forbidden(code)}
    assert wanted <= removed
    # Beside these only what a later Unicode made a format character.
    assert {unicodedata.category(chr(code)) for code in removed - wanted} <= {"Cn"}


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


def test_harmless_removals_are_not_counted() -> None:
    assert sanitise("\ufeffco\u00adop \u200bx").removed == 1


def test_control_and_private_characters_are_counted_apart() -> None:
    found = sanitise("a\u200bb\x12c\ue000d\u202e")
    assert (found.text, found.removed, found.unknown) == ("abcd", 4, 2)


def test_a_name_becomes_one_line() -> None:
    assert sanitise_line(" a\u202e\r\n  b\t c ") == "a b c"
