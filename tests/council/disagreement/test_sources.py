"""Whether what several members say rests on one source."""

import pytest

from chapterhouse.council.disagreement.sources import (
    Known,
    all_outdated,
    find_by_name,
    is_copy,
    newer_version,
    rests_on,
)
from chapterhouse.types import Evidence

STUDY = Known("study-1", "Demand for a late ferry", "files/demand-study-2025.txt", language="en")
SAFETY = Known("report-1", "Annual Safety Report 2025", "files/safety.pdf", language="en")
OLD = Known("policy-1", "Severe Weather Policy", "files/severe-weather-policy-2023.md")
NEW = Known("policy-2", "Severe Weather Policy", "files/severe-weather-policy-2025.md")
NAMED = Known("plan-1", "Untitled", "files/x.txt", aliases=("Harbour Master Plan",))
DOCUMENTS = [STUDY, SAFETY, OLD, NEW, NAMED]
TEXTS = {
    "study-1": "On an average night we expect 52 passengers on a ferry. In July we expect 81.",
    "report-1": "The harbour recorded 12 incidents in the year.",
}


def _text_of(document: str) -> str:
    return TEXTS.get(document, "")


def _said(name: str, text: str, language: str = "en") -> Evidence:
    return Evidence(name, 0, len(text), text, language)


EXPECTS = _said("a", "The demand study expects 52 passengers on a late sailing.")
AS_EXPECTED = _said("b", "With 52 passengers, as the demand study expects, four crew are enough.")
USED = _said("c", "Like everyone else we use the demand study's 52 passengers a sailing.")


def test_one_document_is_one_source() -> None:
    sentences = [_said("a", "The crane lifts 9 tonnes."), _said("a", "The quay is 40 m long.")]
    assert rests_on(sentences, DOCUMENTS) == "a"


def test_copies_are_one_source_and_the_oldest_is_told() -> None:
    one = Known("one", "Rules", "rules.md", text_sha256="same", date="2024")
    two = Known("two", "Rules", "copy.md", text_sha256="same", date="2021")
    sentences = [_said("one", "It is so."), _said("two", "It is so.")]
    assert rests_on(sentences, [one, two]) == "two"
    other = Known("two", "Rules", "copy.md", text_sha256="else", date="2021")
    assert rests_on(sentences, [one, other]) == ""


def test_near_copies_are_one_source() -> None:
    body = " ".join(f"Rule {n} says that boats of kind {n} wait at quay {n}." for n in range(40))
    texts = {"one": body, "two": f"Copy for the office. {body}", "three": body[::-1]}
    assert is_copy("one", "two", {}, texts.__getitem__)
    assert not is_copy("one", "three", {}, texts.__getitem__)
    short = {"one": "It is so.", "two": "It is so."}
    assert not is_copy("one", "two", {}, short.__getitem__)


def test_sentences_that_name_a_document_of_the_library_rest_on_it() -> None:
    assert rests_on([EXPECTS, AS_EXPECTED, USED], DOCUMENTS, _text_of) == "study-1"


def test_the_document_itself_and_who_names_it_are_one_source() -> None:
    own = _said("study-1", "On an average night we expect 52 passengers on a ferry.")
    assert rests_on([own, EXPECTS], DOCUMENTS, _text_of) == "study-1"


def test_one_source_of_their_own_is_enough_to_be_independent() -> None:
    counted = _said("d", "We counted 52 passengers on the quay ourselves.")
    assert rests_on([EXPECTS, AS_EXPECTED, counted], DOCUMENTS, _text_of) == ""


def test_what_is_no_document_here_is_told_as_they_call_it() -> None:
    assert rests_on([EXPECTS, AS_EXPECTED, USED], [SAFETY], _text_of) == "demand study"


def test_a_bare_noun_may_mean_another_thing_in_each_document() -> None:
    one = _said("a", "According to the survey, the ferry carries 52 passengers.")
    two = _said("b", "The survey shows 52 passengers on the ferry.")
    assert rests_on([one, two], [], _text_of) == ""


def test_a_document_that_says_otherwise_is_not_what_they_rest_on() -> None:
    one = _said("a", "The demand study expects 70 passengers on a late sailing.")
    two = _said("b", "With 70 passengers, as the demand study expects, four crew are enough.")
    assert rests_on([one, two], DOCUMENTS, _text_of) == "demand study"


def test_only_what_the_attribution_covers_comes_from_the_source() -> None:
    one = _said("a", "With 52 passengers, as the demand study expects, the drill took 9 minutes.")
    two = _said("b", "The drill took 9 minutes in the dark, and the demand study expects rain.")
    assert rests_on([one, two], DOCUMENTS, _text_of) == ""


def test_german_sentences_name_their_sources_too() -> None:
    study = Known("studie", "Nachfragestudie 2025", "n.txt", language="de")
    one = _said("a", "Laut der Nachfragestudie fahren 52 Fahrgäste mit der späten Fähre.", "de")
    two = _said("b", "Die Nachfragestudie erwartet 52 Fahrgäste auf der späten Fähre.", "de")
    assert rests_on([one, two], [study]) == "studie"


def test_nothing_rests_on_nothing() -> None:
    assert rests_on([], DOCUMENTS) == ""


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("demand study", "study-1"),  # the name of its file, without the year
        ("study", "study-1"),
        ("safety report", "report-1"),
        ("Annual Safety Report 2025", "report-1"),
        ("harbour master plan", "plan-1"),  # an alias
        ("2023 severe weather policy", "policy-1"),
        ("severe weather policy", ""),  # two are called so
        ("board minutes", ""),
        ("", ""),
    ],
)
def test_which_document_a_name_means(name: str, expected: str) -> None:
    found = find_by_name(name, "en", DOCUMENTS)
    assert (found.id if found else "") == expected


def test_the_newest_of_the_newer_versions_is_named() -> None:
    text = " ".join(f"word{number} stands here" for number in range(30))
    known = {
        name: Known(name, title, name, date=date, language="en")
        for name, title, date in (
            ("a", "Rules 2023", "2023-05-01"),
            ("b", "Rules 2024", "2024-05-01"),
            ("c", "Rules 2025", "2025-05-01"),
            ("d", "Menu 2026", "2026-05-01"),
        )
    }
    found = {name: newer_version(name, known, lambda _: text) for name in (*known, "nowhere")}
    assert found == {"a": "c", "b": "c", "c": "", "d": "", "nowhere": ""}
    assert all_outdated({"a", "b"}, known, lambda _: text)
    assert not all_outdated({"a", "c"}, known, lambda _: text)
