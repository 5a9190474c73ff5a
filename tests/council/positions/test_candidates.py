"""The sentences that may answer an aspect, and what is known of each."""

from dataclasses import replace

import numpy as np
from tests.council.agreements import TERMS
from tests.council.conftest import Hall

from chapterhouse.council.positions.candidates import FEATURES, Candidates, candidates_of
from chapterhouse.types import Aspect, AspectKind, Scope

ASPECT = Aspect("a1", "How long should confidentiality last", AspectKind.VALUE)
OFFERS, DECIDES, SHORT = (FEATURES.index(name) for name in ("offers", "decides", "short"))


def found(hall: Hall, shelf: str, aspect: Aspect = ASPECT) -> Candidates:
    runtime = hall.runtime
    return candidates_of(aspect, Scope.of((shelf,)), runtime.settings, runtime)


def test_every_sentence_has_a_row_of_features(signed: Hall) -> None:
    made = found(signed, "alder")
    assert made.table.shape == (len(made.sentences), len(FEATURES))
    assert len(made.texts) == len(made.sentences) > 1
    assert np.isfinite(made.table).all()


def test_only_what_the_member_reads_is_looked_at(signed: Hall) -> None:
    for shelf, term in TERMS.items():
        made = found(signed, shelf)
        assert {hit.document.shelves for hit in made.hits} == {(shelf,)}
        told = " ".join(made.texts)
        assert [other for other in TERMS.values() if other in told] == [term]


def test_what_describes_a_document_is_no_statement_of_it(signed: Hall) -> None:
    assert not any(
        "2024-01-01" in text or "title:" in text for text in found(signed, "alder").texts
    )


def test_a_value_of_the_kind_that_is_asked_for_is_offered(signed: Hall) -> None:
    made = found(signed, "birch")
    offered = [text for text, row in zip(made.texts, made.table, strict=True) if row[OFFERS]]
    assert offered == [
        text for text in made.texts if text.startswith("The obligations of confidentiality")
    ]
    assert [TERMS["birch"] in text for text in offered] == [True]
    assert not made.table[:, DECIDES].any()


def test_words_that_permit_or_forbid_count_where_yes_or_no_is_asked(signed: Hall) -> None:
    asked = Aspect("a1", "Must the Recipient keep it in confidence", AspectKind.YES_NO)
    made = found(signed, "alder", asked)
    decides = [text for text, row in zip(made.texts, made.table, strict=True) if row[DECIDES]]
    assert "The Recipient shall hold all Confidential Information in strict confidence." in decides
    assert not any("made between" in text for text in decides)
    assert not made.table[:, OFFERS].any()


def test_a_heading_is_short(signed: Hall) -> None:
    made = found(signed, "alder")
    for text, row in zip(made.texts, made.table, strict=True):
        if len(text.split()) < 4:
            assert row[SHORT]


def test_without_documents_there_is_nothing(signed: Hall) -> None:
    made = found(signed, "nowhere")
    assert (made.sentences, made.texts, made.hits) == ((), (), ())
    assert made.table.shape == (0, len(FEATURES))


def test_the_context_is_searched_for_too(signed: Hall) -> None:
    short = Aspect("a1", "how long", AspectKind.VALUE)
    within = replace(short, context="confidentiality obligations")
    whole, alone = FEATURES.index("whole"), FEATURES.index("alone")
    made = found(signed, "alder", within)
    term = next(n for n, text in enumerate(made.texts) if "five years" in text)
    assert made.table[term, whole] != made.table[term, alone]
    bare = found(signed, "alder", short)
    assert (bare.table[:, whole] == bare.table[:, alone]).all()
