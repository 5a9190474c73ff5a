from collections.abc import Iterator

import pytest
from defusedxml import ElementTree

from chapterhouse import Library
from chapterhouse.evaluation.measuring import Evaluation, Gate, evaluate, holds, junit
from chapterhouse.evaluation.questions import Question


@pytest.mark.parametrize(
    ("text", "wanted", "held"),
    [
        ("costs **80 euros** a\nmetre", "80 Euros a metre", True),
        ("| Fuel | 508400 |", "Fuel 508400", True),
        ("It costs **80 euros**.", "costs 80 euros.", True),
        ("ﬁle", "file", True),
        ("eighty", "80", False),
    ],
)
def test_a_text_is_held_marks_and_spaces_aside(text: str, wanted: str, *, held: bool) -> None:
    assert holds(text, ["something else", wanted]) is held


HOSTILE = 'Who <won> & "why"\x1b[2J\x00\ud800?'


def evaluated(library: Library) -> Evaluation:
    questions = [
        Question("q1", "What does a guest berth cost?", required=("tariffs.md",)),
        Question("q2", HOSTILE, answer=("80 euros",)),
    ]
    return evaluate(questions, library, "a & b")


def check(xml: str, tests: int, failures: int) -> Iterator[dict[str, str | None]]:
    """Hold a file to the schema that Jenkins, GitLab and others read; yield its cases."""
    root = ElementTree.fromstring(xml.encode("utf-8"))
    assert root.tag == "testsuites"
    (suite,) = root
    assert suite.tag == "testsuite"
    assert set(suite.attrib) >= {"name", "tests", "failures", "errors"}
    counts = {"tests": str(tests), "failures": str(failures), "errors": "0"}
    for element in (root, suite):
        assert {name: element.attrib[name] for name in counts} == counts
    assert len(suite) == tests
    for case in suite:
        assert case.tag == "testcase"
        assert case.attrib["name"]
        assert case.attrib["classname"]
        assert [child.tag for child in case] in ([], ["failure"])
        yield {"name": case.attrib["name"], "why": case[0].attrib["message"] if len(case) else None}


def test_without_gates_there_is_a_case_for_every_question(library: Library) -> None:
    written = junit(evaluated(library), ())
    first, second = check(written, 2, 1)
    assert first == {"name": "q1 What does a guest berth cost?", "why": None}
    assert second["why"]
    assert second["name"] == 'q2 Who <won> & "why"\ufffd[2J\ufffd\ufffd?'
    assert junit(evaluated(library), ()) == written


def test_with_gates_there_is_a_case_for_every_gate(library: Library) -> None:
    held = (Gate("R@5", 0.5, 1.0, passed=True), Gate("MAP", 0.9, 0.25, passed=False))
    passed, failed = check(junit(evaluated(library), held), 2, 1)
    assert passed == {"name": "R@5 >= 0.5", "why": None}
    assert failed == {"name": "MAP >= 0.9", "why": "MAP is 0.2500, below 0.9"}
