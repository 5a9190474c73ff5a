"""Results for continuous integration, in JUnit's XML.

One test case a gate; without gates, one a question, failed where it did not get what its file
wants. Times and dates are left out, so that the same figures give the same file.
"""

import re
from collections.abc import Sequence
from xml.sax.saxutils import quoteattr

from chapterhouse.evaluation.evaluate import Evaluation
from chapterhouse.evaluation.gates import Gate
from chapterhouse.evaluation.measuring import Scored

# What XML 1.0 cannot hold, not even as a reference.
_UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

_Case = tuple[str, str]  # name, and why it failed or nothing


def junit(found: Evaluation, held: Sequence[Gate]) -> str:
    """Return the XML of an evaluation."""
    cases = [_gate(gate) for gate in held] or [_question(entry) for entry in found.scored]
    failures = sum(bool(why) for _, why in cases)
    suite = f"chapterhouse eval {found.name}"
    counts = f'tests="{len(cases)}" failures="{failures}" errors="0"'
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f"<testsuites name={_quoted('chapterhouse eval')} {counts}>",
        f'  <testsuite name={_quoted(suite)} {counts} skipped="0">',
        *(line for case in cases for line in _written(case, suite)),
        "  </testsuite>",
        "</testsuites>",
    ]
    return "\n".join(lines) + "\n"


def _gate(gate: Gate) -> _Case:
    failed = f"{gate.measure} is {gate.figure:.4f}, below {gate.floor:g}"
    return f"{gate.measure} >= {gate.floor:g}", "" if gate.passed else failed


def _question(entry: Scored) -> _Case:
    question = entry.case.question
    failures = list(entry.failures)
    if not failures and entry.scores.get("R@10") == 0.0:  # of a collection, which has no checks
        failures = ["nothing relevant among the first ten"]
    return f"{question.id} {question.text}", "; ".join(failures)


def _written(case: _Case, suite: str) -> Sequence[str]:
    name, failure = case
    head = f"    <testcase classname={_quoted(suite)} name={_quoted(name)}"
    if not failure:
        return [f"{head}/>"]
    return [
        f"{head}>",
        f'      <failure type="assertion" message={_quoted(failure)}/>',
        "    </testcase>",
    ]


def _quoted(text: str) -> str:
    return quoteattr(_UNWRITABLE.sub("\ufffd", text))
