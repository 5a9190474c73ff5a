"""What is found while vectors are missing: of new documents, and of languages without any."""

from pathlib import Path

import pytest

from chapterhouse.library import Library

THINGS = ("mooring", "tennis court", "forklift", "boat lift", "canoe", "garage", "tent pitch",
          "cellar", "greenhouse", "lecture hall")  # fmt: skip
FRENCH = (
    "Le gardien ouvre la porte du port chaque matin à six heures et la ferme le soir.",
    "Les visiteurs paient la place de stationnement au bureau du port avant de partir.",
    "La bibliothèque municipale est fermée le lundi et pendant les vacances d'été.",
    "Les clés de la salle des pompes se trouvent dans le bureau du capitaine.",
    "Le contrat de location se termine avec un préavis de trois mois par écrit.",
    "Les chiens doivent rester en laisse sur la plage entre mai et septembre.",
)
ITALIAN = {
    "Chi apre il cancello del porto la mattina?": (
        "Il custode apre il cancello del porto ogni mattina alle sei e lo chiude la sera."
    ),
    "Dove si paga il posto barca?": (
        "Gli ospiti pagano il posto barca nell'ufficio della darsena prima di partire."
    ),
    "Quando è chiusa la biblioteca comunale?": (
        "La biblioteca comunale è chiusa il lunedì e durante le vacanze di agosto."
    ),
    "Dove sono le chiavi della sala pompe?": (
        "Le chiavi della sala pompe sono nella stanza del capitano, nel cassetto."
    ),
    "Con quale preavviso finisce il contratto di affitto?": (
        "Il contratto di affitto finisce con un preavviso di due mesi per iscritto."
    ),
    "I cani possono stare sulla spiaggia?": (
        "I cani devono restare al guinzaglio sulla spiaggia fra giugno e agosto."
    ),
}


def add(library: Library, text: str) -> str:
    record = library.documents.add_text(text, title=text.split(maxsplit=1)[0]).outcomes[0].record
    return record.document_id


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library.open(tmp_path / "home")


def test_a_fresh_upload_is_among_the_first_three_at_once(library: Library) -> None:
    with library:
        for number, thing in enumerate(THINGS):
            add(library, f"The {thing} fee is {number + 5} crowns a night.")
        list(library.encoders.embed_pending())
        new = add(library, "The berth fee is 22 crowns a night.")
        for question in ("What is the berth fee a night?", "How much is a berth for a night?"):
            hits = library.search.hits(question).hits
            assert new in [hit.document.id for hit in hits[:3]], question
        assert "22 crowns" in library.answers.ask("What is the berth fee?").sentences[0].text


def test_documents_without_vectors_are_found_beside_others_that_have_them(
    library: Library,
) -> None:
    with library:
        for text in FRENCH:
            add(library, text)
        own = {question: add(library, text) for question, text in ITALIAN.items()}
        list(library.encoders.embed_pending())
        first = {q: library.search.hits(q).hits[0].document.id for q in ITALIAN}
        assert first == own
