"""Excerpts as a page: where each stands, in which order."""

import pytest

from chapterhouse.retrieval.present import arrange, document_line, markdown, place_line
from chapterhouse.types import Chunk, Document, Excerpt, Hit


def document(title: str = "Tea", source: str = "drinks/green tea.md", kind: str = "") -> Document:
    return Document("tea-1", source, "", title, "md", "test", "", "", 0, 0, page_kind=kind)


def excerpt(start: int, relevance: float, of: Document, **more: object) -> Excerpt:
    text = f"text {start}\n"
    chunk = Chunk(of.id, start, start, start + len(text), text, **more)  # type: ignore[arg-type]  # as given
    return Excerpt(Hit(start + 1, 1.0, chunk, of), chunk.start, chunk.end, text, 3, relevance)


@pytest.mark.parametrize(
    ("title", "line"),
    [
        ("Tea", "## Tea (drinks/green tea.md)"),
        ("green tea", "## drinks/green tea.md"),
        ("Green tea.md", "## drinks/green tea.md"),
        ("", "## drinks/green tea.md"),
        ("Two\nlines", "## Two lines (drinks/green tea.md)"),
    ],
)
def test_a_document_is_named_once(title: str, line: str) -> None:
    assert document_line(document(title)) == line


@pytest.mark.parametrize(
    ("kind", "label", "path", "line"),
    [
        ("", "", (), "page 4, tea-1:0"),
        ("slide", "", ("Tea", "Brewing"), "**Brewing**, slide 4, tea-1:0"),
        ("sheet", "Costs", ("A", "B"), "**A › B**, sheet Costs, tea-1:0"),
    ],
)
def test_an_excerpt_says_where_it_stands(
    kind: str, label: str, path: tuple[str, ...], line: str
) -> None:
    found = excerpt(0, 0.5, document(kind=kind), section_path=path, page=4, page_label=label)
    assert place_line(found) == line


def test_documents_stand_by_relevance_and_excerpts_in_reading_order() -> None:
    tea = document()
    coffee = Document("coffee-1", "coffee.md", "", "", "md", "test", "", "", 0, 0)
    found = [excerpt(30, 0.1, tea), excerpt(60, 0.9, coffee), excerpt(0, 0.6, tea)]
    ordered = arrange(found)
    assert [(e.hit.document.id, e.start) for e in ordered] == [
        ("coffee-1", 60),
        ("tea-1", 0),
        ("tea-1", 30),
    ]
    assert markdown(ordered) == (
        "## coffee.md\n\ncoffee-1:60\n\ntext 60\n\n"
        "## Tea (drinks/green tea.md)\n\ntea-1:0\n\ntext 0\n\ntea-1:30\n\ntext 30\n"
    )
