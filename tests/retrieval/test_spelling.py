"""Misspelled words of a question."""

import pytest

from chapterhouse.retrieval.pipeline import retrieve
from chapterhouse.retrieval.question import parse_question
from chapterhouse.retrieval.spelling import find_absent_words
from chapterhouse.text.mentions import Mentions, words_of
from chapterhouse.types import Correction, Query, Scope, SearchResult, VariantKind

from .scripted import library

TEXTS = library(
    [
        ("a", "The warranty covers the harbour gate for two years."),
        ("b", "Every harbour has a warden. The harbour is old."),
        ("c", "Tickets for the ferry are sold by the crew of NATO-4."),
    ]
)


def ask(question: str) -> SearchResult:
    return retrieve(Query(question, Scope.everything()), TEXTS.sources())


def test_a_misspelled_word_is_searched_as_it_is_meant_and_reported() -> None:
    result = ask("How long is the Waranty?")
    assert result.corrections == (Correction("Waranty", "warranty"),)
    assert result.question.text == "How long is the warranty?"
    assert result.query.text == "How long is the Waranty?"
    assert result.hits[0].document.id == "a"
    assert result.warnings == ("Searched also for: warranty (you wrote: Waranty)",)
    assert [each.kind for each in result.variants] == [VariantKind.ASKED, VariantKind.AS_WRITTEN]


def test_of_equally_near_words_the_most_frequent_is_meant() -> None:
    assert ask("hrbour harboor").corrections[0].meant == "harbour"


def test_what_is_right_or_meant_to_the_letter_is_left() -> None:
    for question in (
        "the warranty or warranties",  # whose stem is there
        "waran",  # near nothing
        'the "waranty"',
        "waranty.pdf",
        "the NATA gate",
        "waranty7 fer",
        "Combien de temps est-ce que la waranty dure ?",  # French, and no document is
    ):
        assert ask(question).corrections == ()


@pytest.mark.parametrize(
    ("asked", "languages", "absent"),
    [
        ("How long does Falmer's zeppelin fly?", {"en": 3}, ("Falmer", "zeppelin", "fly")),
        ("List the harbours, ferries and wardens", {"en": 3}, ()),
        ("What did NATO-4 do in 2025?", {"en": 3}, ("2025",)),
        ("What of NATO 4, nato-5 and GATE7?", {"en": 3}, ("nato-5", "GATE7")),
        ("Wie hoch ist der Turm?", {"": 3}, ("Turm",)),  # no language of the documents is known
        ("Missä on zeppelin?", {"fi": 3, "en": 3}, ()),  # forms that cannot be told
        ("渡轮什么时候开 budget-2026.xlsx", {"en": 3}, ()),
        ("the\x1b[31m gate 1,500 12:30", {"en": 3}, ()),
    ],
)
def test_what_no_document_mentions_in_any_form_is_absent(
    asked: str, languages: dict[str, int], absent: tuple[str, ...]
) -> None:
    question = parse_question(asked, languages)
    words = "\n".join(word for chunk in TEXTS.chunks.values() for word in words_of(chunk.text))
    mentions = Mentions(words)
    found = find_absent_words(question, Scope.everything(), TEXTS, lambda word, _: word in mentions)
    assert found == absent


@pytest.mark.parametrize(
    ("asked", "absent"),
    [
        ("What does the Kestrel 4 weigh?", ("Kestrel 4",)),
        ("Wie schwer ist der Kestrel 40?", ("Kestrel 40",)),
        ("What do the Kestrel 2, the Kestrel 6 and the Kestrel 7 weigh?", ()),
        ("What does the Merlin 4 weigh?", ("Merlin",)),  # with any number
        ("Where in Clause 4, on Page 4 and on Monday 4 is the Kestrel?", ()),
    ],
)
def test_a_number_that_no_document_has_of_a_name_is_absent(
    asked: str, absent: tuple[str, ...]
) -> None:
    texts = library(
        [
            ("a", "The Kestrel 2 can weigh 30 kilos; ist schwer. Of 4 crates one is full."),
            ("b", "The models Kestrel 5 and 6 weigh less. A Kestrel-7 is sold out. Clause one."),
        ]
    )
    languages = {"de": 1} if asked.startswith("Wie") else {"en": 1}
    question = parse_question(asked, languages)
    mentions = Mentions("\n".join(w for c in texts.chunks.values() for w in words_of(c.text)))
    found = find_absent_words(question, Scope.everything(), texts, lambda word, _: word in mentions)
    assert found == absent
