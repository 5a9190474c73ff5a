"""What ``answering.py`` found, for people and for programs."""

import json
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import numpy as np

import chapterhouse
from chapterhouse.answering.evidence import THRESHOLD

SENTENCES: Final = 3
FALSE_REFUSALS: Final = (0.005, 0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.15, 0.2)
RESULTS: Final = Path(__file__).parent / "results" / "answering.md"


@dataclass(frozen=True, slots=True)
class Selected:
    """Shares of questions whose answer was told."""

    name: str
    questions: int
    first: float
    anywhere: float
    padded_anywhere: float  # always three sentences
    right_first: float  # in a sentence of the right document
    right_anywhere: float
    sentences: float
    told_first: float  # with refusals, each a miss
    told_anywhere: float
    answered: float


@dataclass(frozen=True, slots=True)
class Refused:
    """Shares of questions refused, by the left-out model."""

    name: str
    full: float  # refused though all documents are there
    kept: float  # though theirs is there
    hard: float
    foreign: float
    hard_at_bar: float  # where just 5 % of the answerable are refused
    foreign_at_bar: float
    area: float
    curve: list[tuple[float, float, float]] = field(default_factory=list)


def write(selected: Sequence[Selected], refused: Sequence[Refused]) -> None:
    """Write the results for people and for programs."""
    machine = f"{platform.machine()}, Python {platform.python_version()}"
    lines = [
        "# Quality of offline answers",
        "",
        f"Version {chapterhouse.__version__}, {machine}, {datetime.now(UTC).date()}.",
        "Made by `make eval`. Every figure is of models fitted without the row's collection and",
        "without, in any language, the question's quarter of the articles.",
        "",
        f"The answer's words stand in the quoted sentences, at most {SENTENCES}; library of all",
        "paragraphs. *Right*: in a sentence of the right paragraph. *Padded*: always three.",
        "*Refusing*: as a reader sees it, a refusal being a miss.",
        "",
        (
            "| collection | questions | in first | in any | padded | right first | right any "
            "| sentences | refusing: first | any | answered |"
        ),
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
        *(_selected_row(one) for one in selected),
        "",
        "Refused at one threshold for all rows (the false ones are 5 % of all answerable), and",
        "where just 5 % of each row's answerable are. A left-out language has no say in the first,",
        "but the models in the code have seen each. *All there*: asked",
        "of the whole collection; *answerable* and *taken out*: of the same libraries, which lack",
        "some paragraphs, with and without the right one.",
        "",
        (
            "| collection | all there | answerable | taken out | foreign | taken out at 5 % "
            "| foreign at 5 % | area under ROC |"
        ),
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
        *(_refused_row(one) for one in refused),
        "",
        "Refused of *taken out* / *foreign* by share of answerable questions refused:",
        "",
        "| collection | " + " | ".join(f"{share:.1%}" for share in FALSE_REFUSALS) + " |",
        "| --- |" + " ---: |" * len(FALSE_REFUSALS),
        *(_curve_row(one) for one in refused),
        "",
    ]
    RESULTS.write_text("\n".join(lines), "utf-8")
    data = {
        "version": chapterhouse.__version__,
        "threshold": THRESHOLD,
        "selection": [asdict(one) for one in selected],
        "refusal": [asdict(one) for one in refused],
    }
    text = json.dumps(data, indent=1).replace("NaN", "null")
    RESULTS.with_suffix(".json").write_text(text + "\n", "utf-8")
    print("\n".join(lines))


def _selected_row(one: Selected) -> str:
    shares = (one.first, one.anywhere, one.padded_anywhere, one.right_first, one.right_anywhere)
    told = (one.told_first, one.told_anywhere, one.answered)
    return (
        f"| {one.name} | {one.questions} | {_cells(shares)} | {one.sentences:.2f} "
        f"| {_cells(told)} |"
    )


def _refused_row(one: Refused) -> str:
    shares = (one.full, one.kept, one.hard, one.foreign, one.hard_at_bar, one.foreign_at_bar)
    return f"| {one.name} | {_cells(shares)} | {one.area:.3f} |"


def _curve_row(one: Refused) -> str:
    cells = (f"{_cell(hard)} / {_cell(foreign) or '–'}" for _, hard, foreign in one.curve)
    return f"| {one.name} | {' | '.join(cells)} |"


def _cells(shares: Sequence[float]) -> str:
    return " | ".join(map(_cell, shares))


def _cell(share: float) -> str:
    return "" if np.isnan(share) else f"{share:.1%}"
