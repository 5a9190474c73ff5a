"""What has become of the sources of an old answer, over a real library."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from chapterhouse import Library
from chapterhouse.answering.recheck import CitationCheck, QuoteState, SourceState
from chapterhouse.types import Answer

RULES = "# Rules\n\nInside the harbour no vessel may exceed 4 knots.\n"
QUESTION = "How fast may a vessel go inside the harbour?"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    documents = tmp_path / "documents"
    documents.mkdir()
    (documents / "rules.md").write_text(RULES)
    (documents / "weather.md").write_text("# Weather\n\nThe crossing stops above force eight.\n")
    return documents


@pytest.fixture
def library(folder: Path) -> Iterator[Library]:
    with Library.open() as opened:
        opened.add(folder)
        yield opened


@pytest.fixture
def answer(library: Library) -> Answer:
    given = library.ask(QUESTION)
    assert given.found
    return given


def checked(library: Library, answer: Answer) -> CitationCheck:
    return library.recheck(answer)[0]


def state(found: CitationCheck) -> tuple[SourceState, QuoteState]:
    return found.source, found.quote


def rewrite(library: Library, path: Path, text: str) -> None:
    path.write_text(text)
    library.add(path.parent)


def test_nothing_has_changed(library: Library, answer: Answer) -> None:
    for found in library.recheck(answer):
        assert state(found) == (SourceState.SAME, QuoteState.STANDS)
        assert found.holds
        assert (found.start, found.end) == (found.citation.start, found.citation.end)
        assert found.source_now == found.citation.source


def test_the_text_changed_elsewhere(library: Library, folder: Path, answer: Answer) -> None:
    rewrite(library, folder / "rules.md", RULES + "\nThe gate closes at nine.\n")
    assert state(checked(library, answer)) == (SourceState.CHANGED, QuoteState.STANDS)


def test_the_quotation_moved_within_its_document(
    library: Library, folder: Path, answer: Answer
) -> None:
    rewrite(library, folder / "rules.md", f"# Preface\n\nNew.\n\n{RULES}")
    found = checked(library, answer)

    assert state(found) == (SourceState.CHANGED, QuoteState.MOVED)
    body = library.body(found.document_id)
    assert body.text[found.start : found.end] == found.citation.quote


def test_the_quotation_is_lost(library: Library, folder: Path, answer: Answer) -> None:
    rewrite(library, folder / "rules.md", RULES.replace("4 knots", "5 knots"))
    found = checked(library, answer)

    assert state(found) == (SourceState.CHANGED, QuoteState.LOST)
    assert not found.holds
    assert found.start == found.end == -1


def test_the_file_has_another_name(library: Library, folder: Path, answer: Answer) -> None:
    (folder / "rules.md").rename(folder / "regulations.md")
    library.add(folder)
    library.remove(missing=True)
    found = checked(library, answer)

    assert state(found) == (SourceState.MOVED, QuoteState.STANDS)
    assert found.source_now == "documents/regulations.md"
    assert found.document_id != found.citation.document_id


def test_another_text_took_the_name_of_a_file_that_moved(
    library: Library, folder: Path, answer: Answer
) -> None:
    (folder / "rules.md").rename(folder / "old-rules.md")
    rewrite(library, folder / "rules.md", "# Rules\n\nNothing is forbidden.\n")
    found = checked(library, answer)

    assert state(found) == (SourceState.MOVED, QuoteState.STANDS)
    assert found.source_now == "documents/old-rules.md"


def test_the_document_is_gone(library: Library, answer: Answer) -> None:
    library.remove("rules.md")
    found = checked(library, answer)

    assert state(found) == (SourceState.GONE, QuoteState.LOST)
    assert found.document_id == found.source_now == ""


def test_the_document_is_back(library: Library, folder: Path, answer: Answer) -> None:
    library.remove("rules.md")
    library.add(folder)
    assert state(checked(library, answer)) == (SourceState.SAME, QuoteState.STANDS)


def test_of_two_places_the_nearer_one_is_meant(
    library: Library, folder: Path, answer: Answer
) -> None:
    quote = answer.citations[0].quote
    padding = "So it was written by the masters of the harbour long ago.\n" * 3
    rewrite(library, folder / "rules.md", f"# R\n\n{quote}\n\n{padding}\n{padding}\n{quote}\n")
    text = library.body(answer.citations[0].document_id).text
    first, last = text.index(quote), text.rindex(quote)
    assert first != last

    for start, place in (
        (0, first),
        (first + 5, first),
        (last - 5, last),
        (10**9, last),
        (-7, first),
    ):
        old = replace(answer.citations[0], start=start, end=start + len(quote))
        found = checked(library, replace(answer, citations=(old,)))
        assert (found.quote, found.start) == (QuoteState.MOVED, place), start
    old = replace(answer.citations[0], start=last, end=last + len(quote))
    assert checked(library, replace(answer, citations=(old,))).quote is QuoteState.STANDS


@pytest.mark.parametrize(
    ("change", "quote"),
    [
        ({"quote": "Everybody may go at 90 knots."}, QuoteState.LOST),
        ({"quote": ""}, QuoteState.LOST),
        ({"quote": " \n"}, QuoteState.LOST),
        ({"verified": False, "title": "Forged", "text_sha256": "0" * 64}, QuoteState.STANDS),
        ({"start": 0}, QuoteState.MOVED),
        ({"end": 10**12}, QuoteState.MOVED),
        ({"start": 10**12, "end": -1}, QuoteState.MOVED),
    ],
)
def test_nothing_that_the_answer_says_is_believed(
    library: Library, answer: Answer, change: dict[str, object], quote: QuoteState
) -> None:
    forged = replace(answer.citations[0], **change)  # type: ignore[arg-type]  # of the table
    assert checked(library, replace(answer, citations=(forged,))).quote is quote


def test_a_name_of_no_document_is_gone(library: Library, answer: Answer) -> None:
    for name in ("", "../x", "no-such-1", "\x00"):
        forged = replace(answer.citations[0], document_id=name, text_sha256="0" * 64)
        assert checked(library, replace(answer, citations=(forged,))).source is SourceState.GONE


def test_every_citation_is_told_of_in_order(library: Library, answer: Answer) -> None:
    one = answer.citations[0]
    several = replace(answer, citations=(one, replace(one, document_id="x", text_sha256="x"), one))
    assert [found.holds for found in library.recheck(several)] == [True, False, True]
    assert library.recheck(replace(answer, citations=())) == ()
