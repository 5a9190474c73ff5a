"""A citation holds only if it stands in the stored text to the character."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.answering.cite import text_hash, verify
from chapterhouse.types import Body, Citation, Document, Page, Section

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


def test_a_text_that_was_tampered_with_verifies_nothing() -> None:
    tampered = Body(TEXT.replace("nine", "ten!"), BODY.sections)
    assert not verify(citation(0, 7), DOCUMENT, tampered).verified
