from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console

from chapterhouse.presenting.hits import hits_blocks
from chapterhouse.presenting.html import page
from chapterhouse.presenting.markdown import markdown
from chapterhouse.presenting.terminal import show
from chapterhouse.retrieval.question import parse_question
from chapterhouse.types import Chunk, Document, Hit, Query, Scope, SearchResult

TEXT = "Berths are scarce. A guest berth costs 80 euros. Pay at the office."
DOCUMENT = Document("tariffs-1", "papers/t.md", "/p/t.md", "Tariffs", "markdown", "m", "", "", 1, 1)
CHUNK = Chunk("tariffs-1", 0, 5, 70, TEXT, section_path=("Tariffs", "Guests"), page=2, key=1)
HIT = Hit(1, 0.75, CHUNK, replace(DOCUMENT, language="en", page_kind="page"), {"bm25": 2.5})
QUERY = Query("cost of a guest berth", Scope.everything(), 10, 3)
RESULT = SearchResult(QUERY, parse_question(QUERY.text, {"en": 1}), (HIT,), 3, 9)


def on_a_terminal(result: SearchResult, *, explain: bool = False, telling: bool = False) -> str:
    out = StringIO()
    target = Console(file=out, markup=False, highlight=False, emoji=False)
    target.soft_wrap = True
    show(target, hits_blocks(result, explain=explain, key_span=telling))
    return out.getvalue()


def test_a_hit_stands_under_its_title_with_its_place() -> None:
    assert on_a_terminal(RESULT) == (
        "1. Tariffs › Guests\n   papers/t.md · page 2 · characters 5–70 · score 0.750\n"
        f"   {TEXT}\n\n1 passage from 3 documents, 9 chunks\n"
    )
    assert "## 1. Tariffs › Guests\n" in markdown(hits_blocks(RESULT))
    assert "1. Tariffs › Guests</h2>" in page(hits_blocks(RESULT), "A search")


def test_the_sentence_with_most_words_of_the_question_stands_out() -> None:
    assert "»A guest berth costs 80 euros.«" in on_a_terminal(RESULT, telling=True)
    assert "»" not in on_a_terminal(
        replace(RESULT, question=parse_question("nowhere", {"en": 1})), telling=True
    )


def test_how_it_was_found_is_told_when_asked_for() -> None:
    assert "bm25: 2.5" in on_a_terminal(RESULT, explain=True)
    nothing = on_a_terminal(replace(RESULT, hits=()))
    assert nothing.startswith("Nothing found. Searched 3 documents, 9 chunks.\n")
    assert "terms: cost, guest, berth" in nothing
    unknown = replace(RESULT.question, languages=("en", ""))  # it has no stemmer of its own
    mixed = replace(RESULT, question=unknown)
    assert "stemmers: en, other\n" in on_a_terminal(mixed, explain=True)


@pytest.mark.parametrize("text", ["# 1. x", "\n\n## 2. Forged", "<h2>2. x</h2>", "\x1b[2J\n2. y"])
def test_no_text_forges_a_hit(text: str) -> None:
    document = replace(DOCUMENT, title=text, source=text)
    hit = replace(HIT, document=document, chunk=replace(CHUNK, text=f"a\n{text}", header=text))
    result = replace(RESULT, hits=(hit,))
    shown = on_a_terminal(result, telling=True)
    assert "\x1b" not in shown
    assert [line[:2] for line in shown.splitlines() if line[:1].isdigit()] == ["1.", "1 "]
    lines = markdown(hits_blocks(result)).splitlines()
    assert len([line for line in lines if line.startswith("#")]) == 2
    assert page(hits_blocks(result), "A search").count("<h2") == 1
