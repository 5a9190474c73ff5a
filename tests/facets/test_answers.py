"""Answers of a library: every one can be checked, and what is not there is not answered."""

from pathlib import Path

from chapterhouse import Library


def test_every_answer_can_be_checked_to_the_character(library: Library) -> None:
    answer = library.answers.ask("How fast may a vessel go inside the harbour?")
    assert answer.found
    assert "4 knots" in answer.text
    for citation in answer.citations:
        assert citation.verified
        body = library.documents.body(citation.document_id)
        assert body.text[citation.start : citation.end] == citation.quote
    first = answer.citations[0]
    assert first.source == "documents/rules.md"
    assert first.section_path == ("Harbour rules", "Speed")


def test_a_table_row_is_shown(library: Library) -> None:
    answer = library.answers.ask("Which length has berth B7?")
    assert "Length: 12 m" in answer.text


def test_what_the_documents_do_not_hold_is_not_answered(library: Library) -> None:
    answer = library.answers.ask("Which vaccines does the dentist recommend for parrots?")
    assert not answer.found
    assert not answer.sentences
    assert not answer.citations
    assert "dentist" in answer.searched.missing_terms
    assert answer.searched.documents == 3


def test_nothing_to_search_is_no_answer(tmp_path: Path) -> None:
    with Library.open(tmp_path / "empty") as library:
        assert not library.answers.ask("Anything?").found
        assert library.search.hits("Anything?").hits == ()


def test_notes_too_short_to_tell_their_language_are_answered(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "note.txt").write_text("Ferry: leaves at nine.")
    with Library.open(tmp_path / "home") as library:
        library.documents.add(folder)
        assert next(iter(library.documents.list())).language == ""
        assert "nine" in library.answers.ask("When does the ferry leave?").text
