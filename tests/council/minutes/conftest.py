"""Minutes made by hand: all that can stand in them, and as hostile as their sources may be."""

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from typing import Any

import pytest

from chapterhouse.answering.cite import text_hash
from chapterhouse.council.minutes.contents import find_agreement
from chapterhouse.types import (
    Absence,
    Citation,
    Document,
    Gap,
    Ground,
    MemberTurn,
    Minutes,
    Mismatch,
    MismatchKind,
    ParticipantRecord,
    Point,
    Reply,
    Stance,
    Statement,
    TableCell,
    TableRow,
    ToolCall,
    Usage,
)

FEE_2021 = "A guest berth costs 60 euros a night."
FEE_2025 = "A guest berth costs 80 euros a night."
QUAY = "The north quay is closed in winter."
CHINESE = "北码头在冬季关闭。"
TEXTS = {
    "tariffs-2021": f"# Tariffs\n\n{FEE_2021}\n",
    "tariffs-2025": f"# Tariffs\n\n{FEE_2025} {QUAY}\n",
    "码头-1": f"{CHINESE}\n",
}
TITLES = {"tariffs-2021": "Tariffs 2021", "tariffs-2025": "Tariffs 2025", "码头-1": "码头规则"}
DATES = {"tariffs-2021": "2021-01-15", "tariffs-2025": "2025-03-01", "码头-1": ""}


def document(name: str) -> Document:
    date = {"date": DATES[name]} if DATES[name] else {}
    text = TEXTS[name]
    return Document(
        name, f"papers/{name}.md", f"/papers/{name}.md", TITLES[name], "md", "markdown",
        text_hash(name), text_hash(text), len(text.encode()), 0,
        language="zh" if name == "码头-1" else "en", metadata=date,
    )  # fmt: skip


DOCUMENTS = tuple(map(document, TEXTS))


def citation(number: int, name: str, quote: str, link: str = "") -> Citation:
    start = TEXTS[name].index(quote)
    return Citation(
        number, name, TITLES[name], f"papers/{name}.md", (TITLES[name], "Fees"), 3, "page", "",
        start, start + len(quote), quote, text_hash(TEXTS[name]), f"{name}:Fees", DATES[name][:4],
        link, verified=True,
    )  # fmt: skip


CITATIONS = (
    citation(1, "tariffs-2021", FEE_2021),
    citation(2, "tariffs-2025", FEE_2025, "https://docs.example/tariffs#fees"),
    citation(3, "tariffs-2025", QUAY),
    citation(4, "码头-1", CHINESE),
)
MEMBERS = ("maria", "tom", "finance")
ANALYSIS, CROSS, REBUTTAL = "independent_analysis", "cross_examination", "rebuttal"

CLERK = Statement("s1", "clerk", ANALYSIS, FEE_2025, citations=(1,))
INNER = Minutes(
    "finance", "Finance", "What shall a guest berth cost?",
    members=(ParticipantRecord("clerk", "Clerk", "role", "", ("accounts",), 1, "small-model"),),
    rounds=(ANALYSIS,), turns=(MemberTurn("clerk", ANALYSIS, (CLERK,)),),
    decision=(Point(FEE_2025, (1,), statements=("s1",)),),
    citations=(citation(1, "tariffs-2025", FEE_2025),),
)  # fmt: skip
INNER = replace(INNER, agreement=find_agreement(INNER.turns, ("clerk",)))
COST, QUAYS = "what does a guest berth cost", "may the north quay be used in winter"

GUESTS = Statement("s1", "maria", ANALYSIS, "Guests pay more than they did.", "80 euros", COST,
                   (2,), grounds=(Ground(FEE_2025, (2,)),))  # fmt: skip
NINE = Ground("It has nine cranes.", (3,), (Mismatch(MismatchKind.NUMBER, "nine", "no"),))
CRANES = Statement("s4", "tom", ANALYSIS, "The north quay has cranes.", "", QUAYS, grounds=(NINE,))
TURNS = (
    MemberTurn(
        "maria", ANALYSIS, (GUESTS, Statement("s2", "maria", ANALYSIS, CHINESE, "", QUAYS, (4,))),
        option="raise the tariff", missing=("What neighbours charge.",),
        open_questions=("Who pays for the crane?",), method="small-model", usage=Usage(2, 900, 80),
        tool_calls=(ToolCall("search_documents", {"query": "berth", "top_k": 3}, "", seconds=0.5),),
        rejected=("[^nowhere:1]",),
    ),
    MemberTurn(
        "tom", ANALYSIS,
        (Statement("s3", "tom", ANALYSIS, FEE_2021, "60 euros", COST, (1,)), CRANES),
        option="leave it", warnings=("The model of tom was slow.",), method="small-model",
    ),
    MemberTurn(
        "finance", ANALYSIS, (Statement("s5", "finance", ANALYSIS, QUAY, "Closed", QUAYS, (3,)),),
        inner=INNER,
    ),
    MemberTurn(
        "tom", CROSS, method="small-model",
        replies=(Reply("tom", CROSS, "s1", Stance.OPPOSE, FEE_2021, (1,)),
                 Reply("tom", CROSS, "s2", Stance.STAND)),
    ),
    MemberTurn(
        "tom", REBUTTAL, method="small-model",
        replies=(Reply("tom", REBUTTAL, "s3", Stance.CONCEDE, "The newer list holds.", (2,)),),
    ),
)  # fmt: skip

TABLE = (
    TableRow(COST, (TableCell("maria", FEE_2025, (2,)), TableCell("tom", FEE_2021, (1,)),
                    TableCell("finance"))),
    TableRow(QUAYS, (TableCell("maria", QUAY, (3,)), TableCell("tom", CHINESE, (4,)),
                     TableCell("finance", QUAY, (3,)))),
)  # fmt: skip

MINUTES = Minutes(
    "berths", "Berth tariffs", "Shall guests pay more from 2027?",
    purpose="The council sets the tariffs.", options=("raise the tariff", "leave it"),
    members=(
        ParticipantRecord("maria", "Maria Lind", "persona", "maria", ("maria", "council_berths"), 2,
                          "small-model"),
        ParticipantRecord("tom", "Tom", "role", "", ("council_berths",), 1),
        ParticipantRecord("finance", "Finance", "council", "", (), 0),
    ),
    rounds=(ANALYSIS, CROSS, REBUTTAL), turns=TURNS, agreement=find_agreement(TURNS, MEMBERS),
    absences=(Absence("maria", CROSS, "no answer within 30 s"),), decided="raise the tariff",
    decision=(Point(FEE_2025, (2,), statements=("s1",)),),
    grounds=(
        Point(QUAY, (3,), statements=("s5",)),
        Point("It is 70 euros.", (1,), (Mismatch(MismatchKind.AMOUNT, "70 euros", "60 euros"),)),
    ),
    dissent=(Point(FEE_2021, (1,), statements=("s3",), members=("tom",)),),
    open_questions=(Point("Who pays for the crane?", members=("maria",)),), table=TABLE,
    missing=(
        Gap("maria", "maria", "What neighbours charge."), Gap("tom", "", "The accounts of 2024."),
        Gap("", "library", "Any survey of guests."),
    ),
    citations=CITATIONS, chair="The chair", method="big-model", usage=Usage(5, 4_000, 300),
    warnings=("Searched by words alone.",),
)  # fmt: skip
EMPTY = Minutes("berths", "", "What then?")


# What the house itself names: hashes, and names that are looked up.
_OURS = frozenset(
    {"id", "key", "member", "statement", "option", "options", "round", "rounds", "link"}
    | {"document_id", "sources", "decided", "question", "agreement"}
)


def hostile(text: str, value: Any = MINUTES, name: str = "") -> Any:
    """Return minutes in which a text stands wherever a document, model or file name could."""
    if isinstance(value, Enum) or name in _OURS:
        return value
    if isinstance(value, str):
        # Ids and keys, where they are no values of their own.
        return value if name in {"statements", "members"} else text
    if isinstance(value, tuple):
        return tuple(hostile(text, one, name) for one in value)
    if is_dataclass(value) and not isinstance(value, type):
        told = {
            one.name: hostile(text, getattr(value, one.name), one.name) for one in fields(value)
        }
        return replace(value, **told)
    return value


@pytest.fixture
def minutes() -> Minutes:
    return MINUTES


@pytest.fixture
def empty() -> Minutes:
    return EMPTY


@pytest.fixture
def documents() -> tuple[Document, ...]:
    return DOCUMENTS


@pytest.fixture(scope="session")
def filled() -> Callable[[str], Minutes]:
    """Give minutes in which a text stands wherever it could."""
    return hostile
