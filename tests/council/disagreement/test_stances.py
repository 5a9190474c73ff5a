"""How the documents of one member stand to a claim of another."""

import pytest
from tests.council.said import EXAMPLE

from chapterhouse.council.disagreement.stances import find_stance
from chapterhouse.types import ConflictKind, Evidence, Quotation, Stance


def _evidence(
    text: str, name: str = "own", start: int = 0, title: str = "Harbour rules", language: str = "en"
) -> Evidence:
    return Evidence(name, start, start + len(text), text, language, title)


def _stretch(path: str, begins: str, ends: str, section: str = "") -> Evidence:
    """Return a stretch of a document of the example, from one word to another."""
    text = (EXAMPLE / path).read_text(encoding="utf-8")
    start = text.index(begins)
    end = text.index(ends, start) + len(ends)
    title = text.splitlines()[0].lstrip("# ") if path.endswith(".md") else "demand study 2025"
    name = f"{path.rpartition('/')[2].rpartition('.')[0]}-0a1b2c3d"
    path_of = (title, section) if section else ()
    return Evidence(f"{path.split('/')[1]}:{name}" if "position" in path else name,
                    start, end, text[start:end], "en", title, path_of)  # fmt: skip


PAPER = "departments/{}/position-late-sailing.md"
STUDY = "departments/shared/demand-study-2025.txt"
CREW = _stretch(PAPER.format("operations"), "The late sailing needs", "for the season.", "Crew")
REST = _stretch(PAPER.format("safety"), "Crew rules demand", "not one.", "Second: hours of rest")


def _within(stretch: Evidence, begins: str) -> Evidence:
    start = stretch.text.index(begins)
    return Evidence(
        stretch.document_id,
        stretch.start + start,
        stretch.end,
        stretch.text[start:],
        stretch.language,
        stretch.title,
        stretch.section_path,
    )


def test_the_text_around_two_sentences_tells_that_they_speak_of_one_subject() -> None:
    one = _within(CREW, "After that we need")
    other = _within(REST, "We need two more")
    found = find_stance(one, [REST], CREW.text)
    assert found is not None
    assert (found.stance, found.by) == (Stance.CONTRADICTS, ConflictKind.NUMBER)
    assert found.values == ("one", "two")
    assert found.span == Quotation(other.document_id, other.start, other.end, other.text)
    turned = find_stance(other, [CREW], REST.text)
    assert turned is not None
    assert turned.values == ("two", "one")


def test_without_it_the_same_words_of_two_documents_are_left_alone() -> None:
    shop = _evidence("We need two more masters, not one.", "shop", title="Bakery guild")
    assert find_stance(_within(CREW, "After that we need"), [shop], CREW.text) is None


def test_an_older_limit_is_contradicted_by_the_newer() -> None:
    old = _stretch("policies/severe-weather-policy-2023.md", "Under amber, MV", "2.2 metres.")
    new = _stretch("policies/severe-weather-policy-2025.md", "Under amber, MV", "at all.")
    found = find_stance(old, [new])
    assert found is not None
    assert (found.stance, found.values) == (Stance.CONTRADICTS, ("120", "90"))
    assert found.span.quote.endswith("2.2 metres.")


@pytest.mark.parametrize(
    ("path", "begins", "ends"),
    [
        (PAPER.format("operations"), "The demand study expects", "may carry."),
        (PAPER.format("safety"), "With 52 passengers", "four crew."),
        (PAPER.format("finance"), "Like everyone else", "even so."),
    ],
)
def test_a_figure_of_a_source_agrees_with_the_source(path: str, begins: str, ends: str) -> None:
    study = _stretch(STUDY, "On an average Friday", "February 24.")
    found = find_stance(_stretch(path, begins, ends), [study])
    assert found is not None
    assert found.stance is Stance.SUPPORTS
    assert "52 passengers" in found.subject


def test_the_very_same_span_supports_even_where_it_states_nothing() -> None:
    row = _evidence("| crew | 97,500 |", "budget", 40)
    whole = _evidence("| fuel | 1 |\n| crew | 97,500 |", "budget", 27)
    found = find_stance(row, [whole])
    assert found is not None
    assert (found.stance, found.span) == (
        Stance.SUPPORTS,
        Quotation("budget", 40, 57, "| crew | 97,500 |"),
    )
    assert find_stance(row, [_evidence("| crew | 97,500 |", "other")]) is None


def test_a_copy_of_the_words_supports_the_claim() -> None:
    text = "The crane on the north quay lifts nine tonnes."
    found = find_stance(
        _evidence(text, "one", title="A"), [_evidence(text.upper(), "two", title="B")]
    )
    assert found is not None
    assert (found.stance, found.alike) == (Stance.SUPPORTS, 1.0)


CLAIM = _evidence("The notice period of the berth is 14 days.", "claim")
AGAINST = _evidence("The notice period of the berth is 30 days.", "against")


def test_a_repetition_does_not_hide_a_contradiction() -> None:
    found = find_stance(CLAIM, [CLAIM, _evidence(CLAIM.text, "copy"), AGAINST])
    assert found is not None
    assert found.span.document_id == "against"


def test_of_agreement_and_contradiction_the_closer_counts_and_then_agreement() -> None:
    same = _evidence("The notice period of the berth, as all know, is 14 days.", "same")
    found = find_stance(CLAIM, [AGAINST, same])
    assert found is not None
    assert found.stance is Stance.SUPPORTS
    far = _evidence("The notice period of the old berth at the mole is 14 days.", "far")
    found = find_stance(CLAIM, [far, AGAINST])
    assert found is not None
    assert found.stance is Stance.CONTRADICTS


def test_the_order_of_the_passages_changes_nothing() -> None:
    passages = [
        _evidence("The notice period of the berth is 30 days.", "b"),
        _evidence("The notice period of the berth is 40 days.", "a"),
        _evidence("Dogs are welcome.", "c"),
    ]
    found = find_stance(CLAIM, passages)
    assert found is not None
    assert found.span.document_id == "a"
    assert find_stance(CLAIM, passages[::-1]) == found


@pytest.mark.parametrize(
    "passage",
    [
        _evidence("Die Kündigungsfrist des Liegeplatzes beträgt 30 Tage.", language="de"),
        _evidence("Is the notice period of the berth 30 days?"),
        _evidence("# Notice period of the berth: 30 days"),
        _evidence("| notice period of the berth | 30 days |"),
        _evidence("berth notice period"),
        _evidence("The berth is blue."),
    ],
    ids=["language", "question", "heading", "table", "label", "other"],
)
def test_what_says_nothing_of_the_claim_is_silent(passage: Evidence) -> None:
    assert find_stance(CLAIM, [passage]) is None


def test_no_passages_are_silent() -> None:
    assert find_stance(CLAIM, []) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Dated 17 November 2025.", "Dated 21 November 2025."),
        ("In force from 1 March 2023.", "In force from 1 November 2025."),
        ("Next review: February 2026.", "Next review: October 2027."),
        ("All 16 sailings were cancelled.", "In 2022 we cancelled 61 sailings."),
    ],
)
def test_a_documents_own_days_and_figures_of_a_year_contradict_nothing(
    one: str, other: str
) -> None:
    assert find_stance(_evidence(one, "one"), [_evidence(other, "two")]) is None


# --- every pair of sentences of the example -----------------------------------------------------
