import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse import Library
from chapterhouse.answering.cite import (
    CitationCheck,
    QuoteState,
    SourceState,
    citation_name,
    cite,
    link_of,
    marker_of,
    section_name,
    text_hash,
    verify,
)
from chapterhouse.types import Answer, Body, Citation, Document, Page, Quotation, Section

TEXT = "# Rules\n\nThe limit is 90 persons. The gate closes at nine.\n"
BODY = Body(TEXT, (Section(0, 1, ("Rules",), 0, len(TEXT)),), (Page(4, "", 0, len(TEXT)),))
DOCUMENT = Document(
    "rules-1", "a/rules.md", "/a/rules.md", "Rules", "md", "test", "", text_hash(TEXT), 1, 0
)


def citation(start: int, end: int) -> Citation:
    return Citation(
        1, DOCUMENT.id, "Rules", DOCUMENT.source, (), None, "", "", start, end,
        TEXT[start:end], DOCUMENT.text_sha256,
    )  # fmt: skip


SPANS = st.tuples(st.integers(0, len(TEXT) - 1), st.integers(1, len(TEXT))).filter(
    lambda s: s[0] < s[1]
)


@given(SPANS)
def test_every_true_quotation_holds_and_knows_its_place(span: tuple[int, int]) -> None:
    checked = verify(citation(*span), DOCUMENT, BODY)
    assert checked.verified
    assert checked.section_path == ("Rules",)
    assert checked.page == 4


def test_a_text_that_is_not_what_its_checksum_says_does_not_hold() -> None:
    other = replace(BODY, text=TEXT.replace("nine", "five"))
    assert verify(citation(9, 20), DOCUMENT, BODY).verified
    assert not verify(citation(9, 20), DOCUMENT, other).verified


@given(SPANS, st.text(min_size=1, max_size=5))
def test_an_altered_quotation_does_not(span: tuple[int, int], addition: str) -> None:
    made = citation(*span)
    assert not verify(replace(made, quote=made.quote + addition), DOCUMENT, BODY).verified
    assert not verify(replace(made, quote=made.quote[:-1]), DOCUMENT, BODY).verified


@pytest.mark.parametrize(
    "change",
    [
        {"start": -1}, {"end": len(TEXT) + 1}, {"start": 5, "end": 5}, {"start": 9, "end": 3},
        {"text_sha256": "0" * 64}, {"start": 1}, {"end": 3},
    ],
)  # fmt: skip
def test_a_moved_span_or_another_text_does_not(change: dict[str, object]) -> None:
    altered = replace(citation(0, 7), **change)  # type: ignore[arg-type]  # of the table's making
    assert not verify(altered, DOCUMENT, BODY).verified


def test_nothing_holds_without_its_document() -> None:
    assert not verify(citation(0, 7), None, BODY).verified
    assert not verify(citation(0, 7), DOCUMENT, None).verified


DOCUMENT_PROVENANCE = Document(
    "sr-runtime-0a1b2c3d", "papers/sr-runtime.md", "/papers/sr-runtime.md", "SR Runtime", "md",
    "markdown", "", "", 1, 0,
)  # fmt: skip


def stating(**metadata: str) -> Document:
    return replace(DOCUMENT_PROVENANCE, metadata=metadata)


@pytest.mark.parametrize(
    "name", ["leia-2024-sr-runtime-overview", "a", "2024", "press_2025.v2", "höhe-3", "a..b"]
)
def test_a_document_is_cited_by_the_id_that_it_states(name: str) -> None:
    assert citation_name(stating(id=name)) == name
    assert citation_name(stating(id=f" {name} ")) == name


@pytest.mark.parametrize(
    "name",
    [
        "", "a]b", "[^x", "a\nb", "a b", "../x", "x/../y", "/etc", "-a", "a-", "_a", ".a", "a:b",
        "a§b", "x" * 101, "a<b", "ａ]b", "a\u200bb", "a\u3164b", "\u115f", "a\u202eb", "a\u2028b",
        "a|b", "a`b", "a\\b", "a^b", "a\x00b",
    ],
)  # fmt: skip
def test_a_name_that_is_none_is_replaced_by_the_id(name: str) -> None:
    assert citation_name(stating(id=name)) == DOCUMENT_PROVENANCE.id


@given(st.text(max_size=120))
def test_no_name_and_no_section_can_end_a_marker(text: str) -> None:
    document = stating(id=text)
    assert re.fullmatch(r"[\w.\-]+", citation_name(document))
    marker = marker_of(document, ("Top", text))
    assert not re.search(r"[\[\]<>|｜\n\r\u2028]", marker)
    assert len(section_name((text, text))) <= 120


def test_a_marker_names_the_innermost_section() -> None:
    assert marker_of(stating(id="guide"), ("Guide", "Eye  tracking")) == "guide:Eye tracking"
    assert marker_of(stating(id="guide"), ()) == "guide"
    assert marker_of(DOCUMENT_PROVENANCE, ("\u200b",)) == DOCUMENT_PROVENANCE.id


def test_a_link_leads_to_the_section() -> None:
    document = stating(source_url="https://docs.example/guide?v=2")
    assert link_of(document, ()) == "https://docs.example/guide?v=2"
    assert link_of(document, ("Guide",)) == "https://docs.example/guide?v=2"
    assert (
        link_of(document, ("Guide", "Eye tracking: how?"))
        == "https://docs.example/guide?v=2#eye-tracking-how"
    )
    own = stating(source_url="https://docs.example/guide#own")
    assert link_of(own, ("Guide", "Other")) == "https://docs.example/guide#own"


@pytest.mark.parametrize(
    "url",
    [
        "", "javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "ftp://host/x",
        "//host", "https://", "https:///x", "https://user:key@host/",
        "https://good.example\\@evil.example/", "https://good.example\\.evil.example",
        "https://host/ x", "https://host/\nx", "http://[",
        "https://host/><script>alert(1)</script>", 'https://host/"onclick=x', "https://host/`x`",
        "https://host/\u200bx", "https://host/\u202ex", "https://ho\u3164st/",
        "https://h/" + "x" * 2_000, "/papers/x.md", "vbscript:x", " javascript:x",
        "https://host/{x}|^",
    ],
)  # fmt: skip
def test_what_is_no_plain_web_address_is_no_link(url: str) -> None:
    assert link_of(stating(source_url=url), ("A", "B")) == ""


@given(st.text(max_size=60), st.text(max_size=60))
def test_a_link_stays_on_the_host_that_was_stated_and_ends_nowhere(url: str, heading: str) -> None:
    link = link_of(stating(source_url=f"https://host.example/{url}"), ("Top", heading))
    if link:
        assert urlsplit(link).hostname == "host.example"
        assert not re.search(r"[<>\"\\`\s|^]", link)


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
        opened.documents.add(folder)
        yield opened


@pytest.fixture
def answer(library: Library) -> Answer:
    given = library.answers.ask(QUESTION)
    assert given.citations
    return given


def checked(library: Library, answer: Answer) -> CitationCheck:
    return library.answers.recheck(answer)[0]


def state(found: CitationCheck) -> tuple[SourceState, QuoteState]:
    return found.source, found.quote


def rewrite(library: Library, path: Path, text: str) -> None:
    path.write_text(text)
    library.documents.add(path.parent)


def test_a_text_that_changes_is_told(library: Library, folder: Path, answer: Answer) -> None:
    for found in library.answers.recheck(answer):
        assert (state(found), found.holds) == ((SourceState.SAME, QuoteState.FOUND), True)
        assert (found.start, found.end) == (found.citation.start, found.citation.end)
        assert found.source_now == found.citation.source
    rewrite(library, folder / "rules.md", RULES + "\nThe gate closes at nine.\n")
    assert state(checked(library, answer)) == (SourceState.CHANGED, QuoteState.FOUND)
    rewrite(library, folder / "rules.md", f"# Preface\n\nNew.\n\n{RULES}")
    found = checked(library, answer)
    assert state(found) == (SourceState.CHANGED, QuoteState.MOVED)
    body = library.documents.body(found.document_id)
    assert body.text[found.start : found.end] == found.citation.quote
    rewrite(library, folder / "rules.md", RULES.replace("4 knots", "5 knots"))
    found = checked(library, answer)
    assert (state(found), found.holds) == ((SourceState.CHANGED, QuoteState.LOST), False)
    assert found.start == found.end == -1


def test_a_row_is_lost_with_the_names_of_its_columns(library: Library, folder: Path) -> None:
    table = "# Fees\n\n| berth | in euros |\n| --- | --- |\n| north | 80 |\n"
    rewrite(library, folder / "fees.md", table)
    (fees,) = [one for one in library.documents.list() if one.source.endswith("fees.md")]
    start = library.documents.body(fees.id).text.index("| north")
    made = verify(
        cite(fees, Quotation(fees.id, start, start + 14, "| north | 80 |"), 1),
        fees,
        library.documents.body(fees.id),
    )
    answer = replace(library.answers.ask("What does it cost?"), citations=(made,))
    assert made.header == "| berth | in euros |"
    assert state(checked(library, answer)) == (SourceState.SAME, QuoteState.FOUND)
    rewrite(library, folder / "fees.md", table.replace("in euros", "in metres"))
    assert state(checked(library, answer)) == (SourceState.CHANGED, QuoteState.LOST)


def test_a_file_that_moved_is_found(library: Library, folder: Path, answer: Answer) -> None:
    (folder / "rules.md").rename(folder / "old-rules.md")
    library.sources.sync()
    for _ in range(2):
        found = checked(library, answer)
        assert state(found) == (SourceState.MOVED, QuoteState.FOUND)
        assert found.source_now == "documents/old-rules.md"
        assert found.document_id == found.citation.document_id
        rewrite(library, folder / "rules.md", "# Rules\n\nNothing is forbidden.\n")


def test_the_document_is_gone(library: Library, answer: Answer) -> None:
    library.documents.remove("rules.md")
    found = checked(library, answer)
    assert state(found) == (SourceState.GONE, QuoteState.LOST)
    assert found.document_id == found.source_now == ""


def test_of_two_places_the_nearer_is_meant(library: Library, folder: Path, answer: Answer) -> None:
    quote = answer.citations[0].quote
    padding = "So it was written by the masters of the harbour long ago.\n" * 3
    rewrite(library, folder / "rules.md", f"# R\n\n{quote}\n\n{padding}\n{padding}\n{quote}\n")
    text = library.documents.body(answer.citations[0].document_id).text
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
    assert checked(library, replace(answer, citations=(old,))).quote is QuoteState.FOUND


@pytest.mark.parametrize(
    ("change", "quote"),
    [
        ({"quote": "Everybody may go at 90 knots."}, QuoteState.LOST),
        ({"quote": ""}, QuoteState.LOST),
        ({"quote": " \n"}, QuoteState.LOST),
        ({"verified": False, "title": "Forged", "text_sha256": "0" * 64}, QuoteState.FOUND),
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
    assert [found.holds for found in library.answers.recheck(several)] == [True, False, True]
    assert library.answers.recheck(replace(answer, citations=())) == ()
