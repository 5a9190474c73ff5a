"""What a question names binds the answer."""

import pytest
from tests.answering.test_extractive import Shelf

from chapterhouse.answering.names import find_names, is_about
from chapterhouse.retrieval.question import parse_question

TEXTS = {
    "acme": "Supply agreement with Acme Corporation.\n\nIt ends after 12 months.",
    "globex": "Supply agreement with Globex Limited.\n\nIt ends after 24 months.",
}
BUOYS = {
    "tides": "Tidewatch 4 measures 12 metres. Tidewatch 3 weighs 40 kilos.",
    "old": "Tidewatch 3 measures 9 metres.",
    "minutes/2025/june": "The fair earned 6,470 euros.",
}


def bound(asked: str, texts: dict[str, str]) -> list[str]:
    """Return the documents whose passages are about what a question names."""
    shelf = Shelf(texts)
    names = find_names(parse_question(asked, {"en": 1}))
    return [
        hit.document.id
        for hit in shelf.hits()
        if is_about(names, hit, shelf.bodies[hit.document.id].text)
    ]


@pytest.mark.parametrize(
    ("asked", "documents"),
    [
        ("When does the contract with Acme end?", ["acme"]),
        ("When does the agreement end?", ["acme", "globex"]),
        ("Does the contract with Acme end before that with Globex?", []),
        ("When does the contract with Initech end?", []),
    ],
)
def test_a_passage_is_about_what_is_named(asked: str, documents: list[str]) -> None:
    assert bound(asked, TEXTS) == documents


def test_a_number_behind_a_name_is_part_of_it() -> None:
    assert bound("What does Tidewatch 4 measure?", BUOYS) == ["tides"]
    assert bound("What does Tidewatch 3 measure?", BUOYS) == ["tides", "old"]
    assert bound("What did the fair earn in 2025?", BUOYS) == ["minutes/2025/june"]


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        ("Which contract ends first?", set()),  # the first word has a capital anyway
        ("WHICH CONTRACT ENDS FIRST?", set()),
        ("What does ERR-4012 mean?", {"ERR-4012"}),
        ("What was decided in 2024?", {"2024"}),
        ("Which of the 12 rules holds?", set()),
        ('What is "net weight"?', {"net", "weight"}),
    ],
)
def test_what_is_a_name(asked: str, names: set[str]) -> None:
    question = parse_question(asked, {"en": 2})
    terms = dict(question.words)
    assert set(find_names(question).terms) == {terms[name] for name in names}


def test_a_german_noun_is_no_name_and_a_short_form_is_one() -> None:
    question = parse_question("Wann endet der Vertrag mit der GEMA?", {"de": 2})
    assert find_names(question).terms == (dict(question.words)["GEMA"],)


@pytest.mark.parametrize(
    ("asked", "answers"),
    [
        ("After how many months does the agreement with Globex end?", True),
        ("After how many months does the agreement with Initech end?", False),
        ("After how many months do the agreements with Globex and Acme end?", False),
    ],
)
def test_what_is_about_something_else_is_no_answer(asked: str, answers: bool) -> None:  # noqa: FBT001 - a parameter of the test
    told = Shelf(TEXTS).ask(asked)
    assert told.found is answers
    assert told.sentences
    if answers:
        assert told.citations[0].document_id == "globex"
