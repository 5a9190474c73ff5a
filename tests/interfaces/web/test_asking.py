"""First questions that the page suggests, and how it shows answers."""

from dataclasses import replace
from pathlib import Path

import pytest

from chapterhouse.interfaces.values import public_answer
from chapterhouse.interfaces.web.asking import answer_turn, suggest_questions
from chapterhouse.interfaces.web.frame import fragment
from chapterhouse.library import Library
from chapterhouse.presenting.answers import answer_markdown
from chapterhouse.types import Answer, AnswerOutcome, AnswerSentence, Citation, Searched, Turn

WORDS = "The tide levels of the harbour rise in spring, and nobody may moor at the quay then. " * 3
PAPERS = {
    "a": f"# Harbour\n\n## 2. Tide Levels of Varnholm\n\n{WORDS}\n\n## Agenda\n\n{WORDS}\n",
    "b": f"# Quay\n\n## Agenda\n\n{WORDS}\n\n## Introduction to this guide\n\n{WORDS}\n",
    "c": f"# Hafen\n\n## Wer darf wann anlegen?\n\n{WORDS}\n",
    "d": f"# Ferry\n\n## Lost property\n\nNone.\n\n## Your first week\n\n{WORDS}\n",
    "e": f"# Boats\n\n## Speed of MV Heron\n\n{WORDS}\n",
}


def test_questions_are_those_of_a_person_and_bodies_are_looked_into_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Library.open(tmp_path / "home") as library:
        for name, text in PAPERS.items():
            library.documents.add_bytes(text.encode(), f"{name}.md")
        found = suggest_questions(library)
        assert found == (
            "What do the documents say about “Tide Levels of Varnholm”?",
            "Wer darf wann anlegen?",
            "What do the documents say about “Speed of MV Heron”?",
        )
        monkeypatch.delattr(type(library.documents), "body")
        assert suggest_questions(library) == found
        monkeypatch.undo()
        library.documents.add_bytes(f"# X\n\n## Rules of mooring\n\n{WORDS}".encode(), "0.md")
        assert suggest_questions(library) != found


def test_of_a_long_passage_the_sentence_that_decides_is_shown_first() -> None:
    key, around = "Nobody may moor at night.", "The quay is long, and boats come and go. " * 9
    sentences = (
        AnswerSentence(around + key, (), key_span=(len(around), len(around) + len(key))),
        AnswerSentence("Short. Nobody asks.", (), key_span=(0, 6)),
    )
    searched = Searched(1, 1, (), (), ())
    answer = public_answer(
        Answer("Who?", AnswerOutcome.PASSAGES, sentences, (), searched, 0.5, method="extractive")
    )
    before = tuple(Turn(f"{number}?", "Yes.") for number in range(7))
    turn = answer_turn("Who?", answer, before)
    whole = fragment("turn.html", {"turn": turn})
    html = whole.partition('class="answer"')[2].partition("</div>")[0]
    assert html.index(key) < html.index("All that is quoted of it") < html.index("The quay is long")
    assert html.count("All that is quoted of it") == 1
    assert turn["id"] != answer_turn("Who?", answer, before)["id"]  # on one page, each its own


def test_an_item_stands_behind_the_line_that_leads_in_to_its_list() -> None:
    lead, key = "Here are things that aren't ok:", "First class airfare to the office"
    items = f"- {'Tickets to a show, or a trip ' * 12}\n- "
    for text, leads in ((f"{lead}\n{items}{key}", True), (f"{lead}\nWell.\n{items}{key}", False)):
        span = (len(text) - len(key), len(text))
        searched = Searched(1, 1, (), (), ())
        sentences = (AnswerSentence(text, (), key_span=span),)
        answer = Answer("Who?", AnswerOutcome.PASSAGES, sentences, (), searched, 0.5)
        turn = answer_turn("Who?", public_answer(replace(answer, method="extractive")))
        html = fragment("turn.html", {"turn": turn}).partition('class="answer"')[2]
        assert (lead.split("'", maxsplit=1)[0] in html.partition("<details>")[0]) == leads
        assert key in html.partition("<details>")[0]


def test_a_sentence_that_is_shown_alone_is_marked_alone() -> None:
    key = "Nobody may *moor* at the [old quay](/quays/old.md) at **night**."
    lead = "- Boats have come to this harbour for three hundred years, and it has grown since.\n"
    text, shown = f"# Harbour\n\n{lead}- {key}\n", "Nobody may moor at the old quay at night."
    at = text.index(key)
    cited = tuple(
        Citation(
            number, "d", "Harbour", "harbour.md", (), None, "", "", start, end, text[start:end], "",
            verified=True,
        )
        for number, start, end in ((1, 11, 11 + len(lead)), (2, at - 2, len(text)))
    )  # fmt: skip
    spot = (len(lead) + 2, len(lead) + 2 + len(shown))
    sentences = (AnswerSentence(f"{lead}- {shown}", (1, 2), key_span=spot),)
    searched = Searched(1, 1, (), (), ())
    answer = Answer("Who?", AnswerOutcome.ANSWER, sentences, cited, searched, 0.96)
    turn = answer_turn("Who?", public_answer(replace(answer, method="extractive")))
    figure, sources = fragment("turn.html", {"turn": turn}).split("</figure>")
    assert f"from={at}&amp;to={at + len(key)}" in figure
    assert figure.count('class="cited"') == 1  # one for a section
    assert f"from=11&amp;to={11 + len(lead)}" in sources  # in full as before


def test_an_answer_leads_with_the_sentence_that_decides_where_it_is_known() -> None:
    text, key = "Boats moor at the quay. Nobody may moor at night.", "Nobody may moor at night."
    start = text.index(key)
    searched = Searched(1, 1, (), (), ())
    for span, leads in (((start, len(text)), True), ((0, 23), False), ((0, 0), False)):
        sentences = (AnswerSentence(text, (), key_span=span),)
        answer = Answer("Who?", AnswerOutcome.ANSWER, sentences, (), searched, 0.96)
        turn = answer_turn("Who?", public_answer(replace(answer, method="extractive")))
        html = fragment("turn.html", {"turn": turn}).partition('class="answer"')[2]
        assert ("All that is quoted of it" in html) == leads
        assert (html.index(key) < html.index("Boats moor")) == leads
        assert ("<strong>" in html) == (span != (0, 0))
        saved = answer_markdown(replace(answer, method="extractive"))
        assert text in saved  # as everywhere else: nothing is marked in what answers
