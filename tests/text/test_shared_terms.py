from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.text.shared_terms import Source, least_documents, shared_terms

WORDS = ("harbour", "pilot", "tide", "table", "fuel", "pier", "the", "of", "Osk", "Marcus", "Ehde")
TEXTS = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=30), max_size=8)


def found(*texts: str, language: str = "en", limit: int = 12) -> list[str]:
    sources = [Source("", text, language) for text in texts]
    return [entry.text for entry in shared_terms(sources, limit)]


def test_terms_of_one_document_stay_out() -> None:
    common = "# Notes\n\nWe count the {} list daily and check the safety drill. A safety drill."
    texts = [common.format(thing) for thing in ("cookie", "rope", "lamp", "paint", "oil")]
    assert found(*texts) == ["safety drill"]


def test_a_block_of_every_page_counts_once() -> None:
    menu = "Read our cookie policy and the newsletter archive.\n\n"
    birds = ("gull", "tern", "heron", "crane")
    pages = [f"{menu}The {bird} is at the harbour wall." for bird in birds]
    assert found(*pages) == ["harbour wall"]


def test_names_of_people_stay_out_and_terms_with_capitals_stay() -> None:
    texts = [
        f"The Receiving Party and Marcus Ehde of {month}. Each receiving party has the party "
        f"of Marcus Ehde and a receiving slip."
        for month in ("May", "June", "July", "August")
    ]
    terms = [term.casefold() for term in found(*texts)]
    assert "receiving party" in terms
    assert not any("ehde" in term for term in terms)


def test_inflections_and_parts_of_a_term_are_said_once() -> None:
    texts = [
        "## Jeu de données\n\nUn jeu de données est publié. Ces jeux de données.",
        "## Jeux de données\n\nLe jeu de données suit un format. Chaque jeu de données a un nom.",
    ] * 3
    terms = found(*(f"{text} Fiche {number}." for number, text in enumerate(texts)), language="fr")
    assert sum("jeu" in term.casefold() for term in terms) == 1


def test_participles_and_adverbs_end_and_begin_no_term() -> None:
    texts = [f"Licences granted for port number {n}. Licences granted." for n in range(6)]
    assert found(*texts) == ["port number"]


def test_more_documents_ask_for_more_evidence() -> None:
    assert [least_documents(total) for total in (0, 1, 3, 4, 22, 57, 193)] == [1, 1, 1, 2, 3, 4, 7]


@given(TEXTS)
def test_each_term_is_in_as_many_documents_as_it_says(texts: list[list[str]]) -> None:
    sources = [Source("", " ".join(words), "en") for words in texts]
    terms = shared_terms(sources, 5)
    assert len(terms) <= 5
    assert all(least_documents(len(texts)) <= term.documents <= len(texts) for term in terms)
    assert terms == shared_terms(sources, 5)
    assert {term.text.casefold() for term in terms} == {
        term.text.casefold() for term in shared_terms(sources[::-1], 5)
    }
