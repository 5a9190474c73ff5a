import io
import unicodedata

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from chapterhouse.presenting.styled import one_line, shown, styled


@given(st.text())
def test_nothing_shown_steers_a_terminal(text: str) -> None:
    kept = shown(text).replace("\n", "").replace("\t", "")
    assert not [c for c in kept if unicodedata.category(c) in {"Cc", "Cf", "Cs", "Zl", "Zp"}]


@given(st.text(st.characters(categories=["L", "N", "P", "Zs"], codec="utf-8")))
def test_visible_text_is_left_alone_or_spelt_out(text: str) -> None:
    # A few letters and marks are invisible by property; everything else must stay.
    assert shown(text) == text or "\\u" in shown(text) or "\\x" in shown(text)


def test_sequences_are_spelt_out() -> None:
    assert shown("a\x1b[31mb\x9bc\u202ed") == "a\\x1b[31mb\\x9bc\\u202ed"
    assert one_line("a\nb\r\n c") == "a b c"


def test_markup_is_text() -> None:
    target = Console(file=io.StringIO(), markup=False, force_terminal=True, color_system="standard")
    target.print(styled(("[red]x[/red]", "bold")))
    assert "[red]x[/red]" in target.file.getvalue()  # type: ignore[attr-defined]  # a StringIO
