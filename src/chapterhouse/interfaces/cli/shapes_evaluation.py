"""What ``--json`` shows of evaluations; ``docs/cli.md`` lists it."""

from typing import TYPE_CHECKING

from chapterhouse.interfaces.cli.envelope import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chapterhouse.evaluation.chunking import StrategyScores
    from chapterhouse.evaluation.comparing import Comparison
    from chapterhouse.evaluation.feedback import Feedback
    from chapterhouse.evaluation.measuring import Scored
    from chapterhouse.evaluation.spans import GoldSpans
    from chapterhouse.interfaces.cli.evaluation_run import Result

_DIGITS = 6
_SHOWN = 10  # documents of a ranking; all of them are in the run


def evaluation(value: "Result", *, latency: bool) -> dict[str, object]:
    """Shape an evaluation. Times only where they were asked for: they differ on every run."""
    found = value.found
    shaped: dict[str, object] = {
        "name": found.name,
        "kind": found.kind,
        "searched": {"documents": found.documents, "chunks": found.chunks},
        "measures": plain(found.measures),
        "questions": [_question(entry) for entry in found.scored],
        "gates": plain(value.gates),
        "comparison": _comparison(value.comparison) if value.comparison else None,
        "ablation": [_comparison(entry) for entry in value.ablation],
        "warnings": list(found.warnings),
        "note": found.note,
    }
    if latency:
        shaped["latency"] = plain(found.latency)
    return shaped


def chunking(name: str, gold: "GoldSpans", found: "Sequence[StrategyScores]") -> dict[str, object]:
    """Shape the scores of ways of cutting."""
    return {"name": name, "questions": len(gold.questions), "strategies": plain(found)}


def kept(value: "Feedback") -> dict[str, object]:
    """Shape a verdict that was kept."""
    question = value.question
    return {
        "question": {
            "id": question.id,
            "question": question.text,
            "required": list(question.required),
            "forbidden": list(question.forbidden),
            "answer": list(question.answers),
            "wrong": list(question.wrong),
            "answerable": question.answerable,
            "shelves": list(question.shelves),
            "note": question.note,
        },
        "kept": value.kept.value,
        "path": str(value.path),
    }


def _question(entry: "Scored") -> dict[str, object]:
    case = entry.case
    return {
        "id": case.question.id,
        "question": case.question.text,
        "required": sorted(case.relevant),
        "scores": {name: round(value, _DIGITS) for name, value in entry.scores.items()},
        "failures": list(entry.failures),
        "ranking": [plain(ranked) for ranked in entry.ranking[:_SHOWN]],
    }


def _comparison(value: "Comparison") -> dict[str, object]:
    return {
        "name": value.name,
        "unranked": value.unranked,
        "changes": dict(value.changes),
        "measures": {
            name: {"other": plain(value.others[name]), **_difference(value, name)}
            for name in value.differences
        },
    }


def _difference(value: "Comparison", name: str) -> dict[str, object]:
    difference = value.differences[name]
    return {
        "gain": plain(difference.gain),
        "p": difference.p,
        "wins": difference.wins,
        "losses": difference.losses,
        "ties": difference.ties,
    }
