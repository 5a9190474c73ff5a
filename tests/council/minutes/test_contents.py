"""What minutes hold, wherever it stands: also in councils that sat in them."""

from chapterhouse.council.minutes.contents import all_citations, meetings, tool_texts
from chapterhouse.types import Citation, MemberTurn, Minutes, ToolText

ROUND = "independent_analysis"


def citation(number: int) -> Citation:
    return Citation(number, "d", "D", "d.md", (), None, "", "", 0, 1, "x", "")


def council(*turns: MemberTurn, cites: int = 1) -> Minutes:
    numbered = tuple(map(citation, range(1, cites + 1)))
    return Minutes("c", "C", "Why?", turns=turns, citations=numbered)


def holding(inner: Minutes | None) -> MemberTurn:
    return MemberTurn("maria", ROUND, inner=inner)


def test_a_citation_is_called_by_the_turns_on_the_way_to_it() -> None:
    innermost = council(cites=2)
    minutes = council(holding(None), holding(council(holding(innermost))))
    assert [place for place, _ in meetings(minutes)] == ["", "2-", "2-1-"]
    assert [name for name, _ in all_citations(minutes)] == ["1", "2-1", "2-1-1", "2-1-2"]


def test_a_text_of_a_tool_that_several_cite_is_returned_once() -> None:
    shared = ToolText("fees", {}, "", "60", "a" * 64)
    other = ToolText("fees", {}, "", "80", "b" * 64)
    inner = Minutes("i", "I", "Why?", tool_texts=(other, shared))
    said = MemberTurn("maria", ROUND, tool_texts=(shared,), inner=inner)
    assert tool_texts(Minutes("c", "C", "Why?", turns=(said,))) == (shared, other)
