"""What minutes hold, wherever it stands: also in councils that sat in them."""

import pytest

from chapterhouse.answering.checksum import EXTRACTIVE
from chapterhouse.council.minutes.contents import (
    all_citations,
    meetings,
    supported_texts,
    tool_texts,
)
from chapterhouse.types import (
    Citation,
    Claim,
    Concession,
    Leaning,
    Minutes,
    Point,
    Reply,
    Stance,
    Statement,
    Support,
    ToolText,
    Verdict,
)

ROUND = "independent_analysis"


def citation(number: int) -> Citation:
    return Citation(number, "d", "D", "d.md", (), None, "", "", 0, 1, "x", "")


def council(*statements: Statement, cites: int = 1) -> Minutes:
    numbered = tuple(map(citation, range(1, cites + 1)))
    return Minutes("c", "C", "Why?", statements=statements, citations=numbered)


def holding(inner: Minutes | None) -> Statement:
    return Statement("maria", ROUND, inner=inner)


def test_a_citation_is_called_by_the_statements_on_the_way_to_it() -> None:
    innermost = council(cites=2)
    minutes = council(holding(None), holding(council(holding(innermost))))
    assert [place for place, _ in meetings(minutes)] == ["", "2-", "2-1-"]
    assert [name for name, _ in all_citations(minutes)] == ["1", "2-1", "2-1-1", "2-1-2"]


def test_a_text_of_a_tool_that_several_cite_is_returned_once() -> None:
    shared = ToolText("fees", {}, "", "60", "a" * 64)
    other = ToolText("fees", {}, "", "80", "b" * 64)
    inner = Minutes("i", "I", "Why?", tool_texts=(other, shared))
    said = Statement("maria", ROUND, tool_texts=(shared,), inner=inner)
    assert tool_texts(Minutes("c", "C", "Why?", statements=(said,))) == (shared, other)


@pytest.mark.parametrize(
    ("statement", "quoted"),
    [
        (Statement("maria", ROUND, method=EXTRACTIVE), True),
        (Statement("maria", ROUND, method=EXTRACTIVE, inner=council()), False),
        (Statement("maria", ROUND, method="model"), False),
    ],
)
def test_only_what_no_model_and_no_inner_council_said_is_a_quotation(
    statement: Statement, *, quoted: bool
) -> None:
    from_it = Statement(
        statement.member,
        statement.round,
        method=statement.method,
        inner=statement.inner,
        claims=(Claim("c1", "maria", ROUND, "At nine.", (1,), Support.SUPPORTED),),
        replies=(Reply("maria", ROUND, "c2", Stance.CONTRADICTS, " "),),
        concessions=(Concession("maria", ROUND, "c3", "tom", "At ten.", (1,)),),
    )
    found = list(supported_texts(council(from_it)))
    assert all(one.quoted is quoted for one in found)
    names = ["claim c1", "the concession of maria on c3"] if quoted else ["claim c1"]
    assert [one.where for one in found] == names


def test_what_states_nothing_is_left_out_of_what_must_be_carried() -> None:
    minutes = Minutes(
        "c",
        "C",
        "Why?",
        decision=(Point("Nothing was decided."), Point("It costs 60 euros.", (1,))),
        grounds=(Point("A berth costs 60 euros."),),
        open_questions=(Point("What then?", (1,)),),
        matrix=(
            Verdict("stay", "maria", Leaning.FOR, " "),
            Verdict("go", "maria", Leaning.AGAINST, "It is dear."),
        ),
    )
    where = [one.where for one in supported_texts(minutes)]
    assert where == ["decision 1", "grounds 1", "the verdict of maria on go"]
