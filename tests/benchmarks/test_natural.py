"""What is counted of a natural question, the figures of many, and how systems are compared."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gold_sets import locate, overlaps
from marking import (
    Passage,
    Quoted,
    Reply,
    calibration_error,
    count_facts,
    first_words,
    has_facts,
    is_fragment,
    mark,
    named_document,
    share,
)
from peers import bars, compare, titled
from questions import Evidence, Question

FACTS = (("30 days", "thirty days"), ("written notice",))
TEN_YEARS = Question("q", "terms", "when", "How?", other_words=True, facts=(("ten years",),))


def question(**more: object) -> Question:
    evidence = (Evidence("a.md", "30 days"), Evidence("b.md", "written notice"))
    fields: dict[str, object] = {"evidence": evidence, "facts": FACTS} | more
    return Question("q", "folder", "when", "How long?", other_words=True, **fields)  # type: ignore[arg-type]  # fields differ


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Within **30\ndays** of a *written* notice", True),
        ("Thirty days after written notice", True),
        ("130 days of written notice", False),
        ("30 days", False),
    ],
)
def test_every_fact_is_needed_as_whole_words(text: str, found: bool) -> None:  # noqa: FBT001 - a parameter
    assert has_facts(text, FACTS) is found
    assert not has_facts(text, ())  # a question without facts is never answered right


def test_hits_words_and_documents_are_counted() -> None:
    filler = [Passage("c.md", "word " * 200)] * 3
    passages = [Passage("a.md", "in 30 days"), *filler, Passage("b.md", "by written notice")]
    made = mark(question(), "30 days, written notice", passages, Reply(), {})
    assert made.readable
    assert made.in_hits == (False, True)
    assert made.in_words == (False, True)
    assert made.documents == (False, True)
    assert made.words == (403, 606)
    assert made.outcome == "not-found"
    assert (made.right, made.further, made.strayed) == (False, True, None)


def reply(text: str, *documents: str) -> Reply:
    return Reply("answer", (Quoted(text, documents),), 0.9, sure=True)


def test_a_reply_is_right_by_its_own_text() -> None:
    made = mark(question(), "", [], reply("Within thirty days, by written notice."), {})
    assert (made.outcome, made.right, made.reply_words) == ("answer", True, 6)
    short = mark(question(), "", [], reply("Within thirty days."), {})
    assert (short.outcome, short.right) == ("answer", False)
    foreign = mark(question(evidence=(), facts=(), miss="near"), "", [], reply("Yes."), {})
    assert (foreign.outcome, foreign.right) == ("answer", False)
    assert count_facts("Within thirty days.", FACTS) == 1


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ("When does the Acme Agreement end?", "a.md"),
        ("When does the Agreement end?", ""),
        ("Acme: when does it end?", ""),  # the first word has a capital anyway
    ],
)
def test_a_document_is_named_by_what_no_other_title_has(asked: str, named: str) -> None:
    titles = {"a.md": "Agreement with Acme a.md", "b.md": "Agreement with Other b.md"}
    own = replace(question(evidence=(Evidence("a.md", "30 days"),)), question=asked)
    assert named_document(own, titles) == named
    for quoted in ("a.md", "b.md"):
        made = mark(own, "", [], reply("It ends in May.", quoted), titles)
        assert made.strayed is ((quoted != "a.md") if named else None)


@pytest.mark.parametrize(
    ("part", "fragment"),
    [
        (Quoted("Warranty and returns"), True),
        (Quoted("The following are not covered:"), True),
        (Quoted("保修条款"), True),
        (Quoted("It does."), False),
        (Quoted("It covers:\n- twelve months"), False),
        (Quoted("Warranty · 12 months", table=True), False),
        (Quoted("a line of six words or more"), False),
    ],
)
def test_a_fragment_says_nothing_by_itself(part: Quoted, fragment: bool) -> None:  # noqa: FBT001 - a parameter
    assert is_fragment(part) is fragment


@given(st.lists(st.text("ab \n")), st.integers(0, 50))
def test_first_words_are_a_beginning(texts: list[str], count: int) -> None:
    words = [word for text in texts for word in text.split()]
    assert first_words(texts, count).split() == words[:count]


@given(st.lists(st.booleans(), min_size=1, max_size=60))
def test_a_share_lies_in_its_interval(values: list[bool]) -> None:
    found = share(values)
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert found == share(values)
    assert str(share([])) == "–"


def test_calibration_is_the_distance_of_claim_and_truth() -> None:
    assert calibration_error([1.0, 1.0], [True, True]) == 0
    assert calibration_error([1.0, 1.0], [True, False]) == pytest.approx(0.5)
    assert math.isnan(calibration_error([], []))


@pytest.mark.parametrize(
    ("text", "wanted", "near", "found"),
    [
        ("# Term\n\nten years.", "Term\r\n  ten", 0, (2, 11)),
        ("a one two one two", "one two", 12, (10, 17)),
        ("a one two one two", "one two", 0, (2, 9)),
        ("one", "two", 0, None),
    ],
)
def test_the_nearest_span_is_found_whatever_its_spaces(
    text: str, wanted: str, near: int, found: tuple[int, int] | None
) -> None:
    assert locate(text, wanted, near) == found


def test_touching_is_not_overlapping() -> None:
    spans = {"a": [(5, 9)]}
    assert overlaps(spans, "a", 8, 20)
    assert not overlaps(spans, "a", 9, 20)


def test_every_system_gets_the_words_of_the_first() -> None:
    ours = [Passage("a", "six words are in this hit")] * 3 + [Passage("a", "ten years")]
    theirs = [Passage("b", "word " * 17 + "ten years"), Passage("b", "more")]
    found = {each.system: each for each in compare(TEN_YEARS, {"we": ours, "they": theirs}, "we")}
    assert found["we"].hits == (False, True)
    assert found["we"].words == (False, True)
    assert found["they"].hits == (True, True)
    assert found["they"].words == (False, True)
    assert titled("Terms", "# Terms\n\nText") == "# Terms\n\nText"  # it is not given twice
    assert titled("Terms", "Text") == "Terms\n\nText"


def test_those_with_vectors_are_compared_with_ours_with_the_same() -> None:
    hit, miss = [Passage("a", "ten years")], [Passage("a", "a b")]
    ranked = {
        "Chapterhouse, built-in": miss,
        "Chapterhouse, folder x": hit,
        "bm25s 1": miss,
        "Chroma 1": miss,
    }
    made = list(bars(compare(TEN_YEARS, ranked, "Chapterhouse, built-in")))
    assert [bar.value for bar in made] == [0, 0, 100, 100]
