"""What becomes of a judgement when a second judge, a model, has another opinion.

The order of what carries is ``unsupported < partly < supported``. The deterministic judge is the
first: what it knows for certain stands, and a second opinion moves a sentence only along that
order, where the first had found nothing but words that it does not know.
"""

from typing import Final

from chapterhouse.types import Judgement, ProblemKind, Support

_ORDER: Final = (Support.UNSUPPORTED, Support.PARTLY, Support.SUPPORTED)
_CERTAIN: Final = frozenset(
    {
        ProblemKind.NUMBER,
        ProblemKind.DATE,
        ProblemKind.NAME,
        ProblemKind.NEGATION,
        ProblemKind.QUOTATION,
    }
)


def combine(first: Judgement, second: Judgement) -> Judgement:
    """Join the deterministic judgement with a second opinion.

    | first | what the second may do |
    |---|---|
    | fabricated, frankenquote, misattributed, no-claim, verbatim | nothing |
    | unsupported or partly: a number, date, name, denial or quotation differs | lower it |
    | unsupported or partly for words only | raise or lower it |
    | supported | lower it |

    Args:
        first: Of the deterministic judge.
        second: Of another judge behind the same seam; only unsupported, partly and supported
            count, with verbatim read as supported.

    Returns:
        The first, or the first with the class of the second, and its spans and problems where
        it gives some.
    """
    said = Support.SUPPORTED if second.support is Support.VERBATIM else second.support
    if first.support not in _ORDER or said not in _ORDER:
        return first
    before, after = _ORDER.index(first.support), _ORDER.index(said)
    certain = any(problem.kind in _CERTAIN for problem in first.problems)
    if after == before or (after > before and certain):
        return first
    return Judgement(
        support=said,
        spans=second.spans or first.spans,
        problems=second.problems if after > before else (second.problems or first.problems),
        score=second.score,
    )
