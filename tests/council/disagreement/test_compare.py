import pytest
from tests.council.said import EXAMPLE

from chapterhouse.council.disagreement.compare import compare_in_context, contradicts, statements_of
from chapterhouse.types import Evidence

PAPER = "departments/{}/position-late-sailing.md"
STUDY = "departments/shared/demand-study-2025.txt"
ENGLISH = [
    *(PAPER.format(name) for name in ("finance", "operations", "safety")),
    STUDY,
    "harbour/harbourmaster-notes-november-2025.txt",
    "policies/data-protection-notice.md",
    "policies/purchasing-and-expenses.md",
    "policies/severe-weather-policy-2023.md",
    "policies/severe-weather-policy-2025.md",
]
# Judged by hand: each is one.
CONTRADICTIONS = {
    ("one", "two"),  # more masters
    ("14 m/s", "12 m/s"),  # green
    ("14", "12"),  # amber
    ("21 m/s", "18 m/s"),  # red
    ("120", "90"),  # MV Teal
    ("130", "110"),  # MV Heron
    ("14 days", "30 days"),  # to claim the fare
    ("40 euros", "75 euros"),  # for lodging
    ("seven years", "ten years"),  # of the log
}


def _sections(path: str) -> list[Evidence]:
    text = (EXAMPLE / path).read_text(encoding="utf-8")
    title = text.splitlines()[0].lstrip("# ")
    found, start = [], 0
    for part in text.split("\n## "):
        name = part.splitlines()[0]
        found.append(Evidence(path, start, start + len(part), part, "en", title, (title, name)))
        start += len(part) + len("\n## ")
    return found


def test_of_all_pairs_of_sentences_of_the_example_only_contradictions_are_told() -> None:
    sections = [(section, path) for path in ENGLISH for section in _sections(path)]
    stated = [(s, path) for section, path in sections for s in statements_of(section)]
    told = {
        comparison.values
        for place, (one, path) in enumerate(stated)
        for other, also in stated[place + 1 :]
        if path != also and contradicts(comparison := compare_in_context(one, other))
    }
    assert {frozenset(values) for values in told} == {frozenset(v) for v in CONTRADICTIONS}


def test_the_order_of_two_sentences_changes_only_the_order_of_what_is_told() -> None:
    sections = [s for path in (*ENGLISH[:4], *ENGLISH[-2:]) for s in _sections(path)]
    stated = [s for section in sections for s in statements_of(section)]
    for place, one in enumerate(stated):
        for other in stated[place + 1 :]:
            told, turned = compare_in_context(one, other), compare_in_context(other, one)
            assert told.relation is turned.relation
            assert told.values == turned.values[::-1]
            assert told.alike == pytest.approx(turned.alike)
