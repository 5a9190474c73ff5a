"""What may be a ground: supported, current, and about the question."""

from dataclasses import replace

from tests.council.conftest import QUESTION, Hall, council, honest, marker, phase, turn, whose

from chapterhouse.council.disagreement.map import Facts
from chapterhouse.council.disagreement.sources import Known
from chapterhouse.council.meeting.grounds import about_question, outdated_citations
from chapterhouse.types import FOUND, Citation, Position, PositionKind, PositionTable, Support

ABOUT = "Vessels have to stay below 6 knots inside the harbour."
BESIDE = "The kitchen serves soup and bread every Monday."


def test_a_sentence_about_something_else_is_told_apart(hall: Hall) -> None:
    encoder = hall.runtime.token_encoder
    assert about_question([QUESTION], [ABOUT, BESIDE], encoder, "en") == (True, False)
    assert about_question([QUESTION, "Serve soup"], [BESIDE], encoder, "en") == (True,)
    assert about_question([QUESTION], [BESIDE], encoder, "xx") == (True,)
    assert about_question([QUESTION], [], encoder, "en") == ()


def citation(number: int, document: str, start: int = 0) -> Citation:
    place = ((), None, "", "", start, start + 10)
    return Citation(number, document, document, document, *place, quote="x" * 10, text_sha256="")


def test_what_something_newer_of_the_same_reader_contradicts_is_outdated() -> None:
    found = [citation(1, "old", 5), citation(2, "new"), citation(3, "old", 100)]
    older = Position("maria", "a1", PositionKind.VALUE, citations=(1,))
    cell = replace(older, citations=(2,), outdated=older)
    reading = PositionTable(positions=(cell,))
    assert outdated_citations(found, reading, Facts()) == {1}
    assert outdated_citations(found, PositionTable(), Facts()) == frozenset()


def test_of_versions_of_one_document_the_older_is_outdated() -> None:
    text = " ".join(f"Rule {n} of the harbour holds for vessel {n}." for n in range(40))
    known = {
        name: Known(name, f"Rules {year}", f"{name}.md", date=f"{year}-01-01", language="en")
        for name, year in (("old", 2020), ("new", 2024))
    }
    facts = Facts(documents=known, text_of=lambda _: text)
    found = [citation(1, "old"), citation(2, "new")]
    assert outdated_citations(found, PositionTable(), facts) == {1}
    minutes = {name: replace(one, title=f"Minutes {one.date}") for name, one in known.items()}
    facts = replace(facts, documents=minutes)  # of minutes the later replace no earlier ones
    assert outdated_citations(found, PositionTable(), facts) == frozenset()


def test_a_model_that_quotes_is_cited_and_one_that_changes_a_value_is_no_ground(hall: Hall) -> None:
    def script(told: str, prompt: str) -> str:
        if phase(told) != "independent_analysis" or whose(told) != "jonas":
            return honest(told, prompt) if phase(told) == "synthesis" else turn()
        place = marker(prompt, "6 knots")
        said = (
            ("Thick mist is a reason to be let off the rule.", "officer grants exceptions in fog"),
            ("Nobody races beyond 9 knots near the piers.", "no vessel may exceed 6 knots"),
        )
        return turn(claims=[{"text": f"{text}{place}", "quotation": own} for text, own in said])

    hall.says(script)
    minutes = hall.convene(council())
    true, false = minutes.claims
    assert true.support is Support.CITED
    assert false.support not in FOUND
    assert not any("9 knots" in point.text for point in minutes.grounds)
