"""Minutes made by hand: all that can stand in them, and as hostile as their sources may be."""

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from decimal import Decimal
from enum import Enum
from typing import Any

import pytest

from chapterhouse.answering.cite import text_hash
from chapterhouse.types import (
    Absence,
    Aspect,
    AspectKind,
    Cell,
    Citation,
    Claim,
    ClaimKind,
    Concession,
    ConflictKind,
    DisagreementMap,
    Dispute,
    DisputeSide,
    Document,
    Gap,
    Leaning,
    MapRow,
    Minutes,
    ParticipantRecord,
    Point,
    Position,
    PositionComparison,
    PositionKind,
    PositionRelation,
    PositionTable,
    Problem,
    ProblemKind,
    Reading,
    Reply,
    Stance,
    Statement,
    Support,
    ToolCall,
    Usage,
    Verdict,
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
        name,
        f"papers/{name}.md",
        f"/papers/{name}.md",
        TITLES[name],
        "md",
        "markdown",
        text_hash(name),
        text_hash(text),
        len(text.encode()),
        0,
        language="zh" if name == "码头-1" else "en",
        metadata=date,
    )


DOCUMENTS = tuple(map(document, TEXTS))


def citation(number: int, name: str, quote: str, link: str = "") -> Citation:
    start = TEXTS[name].index(quote)
    return Citation(
        number,
        name,
        TITLES[name],
        f"papers/{name}.md",
        (TITLES[name], "Fees"),
        3,
        "page",
        "",
        start,
        start + len(quote),
        quote,
        text_hash(TEXTS[name]),
        f"{name}:Fees",
        DATES[name][:4],
        link,
        verified=True,
    )


CITATIONS = (
    citation(1, "tariffs-2021", FEE_2021),
    citation(2, "tariffs-2025", FEE_2025, "https://docs.example/tariffs#fees"),
    citation(3, "tariffs-2025", QUAY),
    citation(4, "码头-1", CHINESE),
)
MEMBERS = ("maria", "tom", "finance")
ANALYSIS, CROSS, REBUTTAL = "independent_analysis", "cross_examination", "rebuttal"

INNER = Minutes(
    "finance",
    "Finance",
    "What shall a guest berth cost?",
    members=(ParticipantRecord("clerk", "Clerk", "role", "", ("accounts",), 1),),
    rounds=(ANALYSIS,),
    statements=(
        Statement("clerk", ANALYSIS, claims=(Claim("c1", "clerk", ANALYSIS, FEE_2025, (1,)),)),
    ),
    map=DisagreementMap(
        ("clerk",),
        (
            MapRow(
                "c1",
                ("c1",),
                FEE_2025,
                (Cell("clerk", Stance.SUPPORTS, ("c1",), (1,)),),
                (ClaimKind.ONE_MEMBER,),
                ("tariffs-2025",),
            ),
        ),
    ),
    decision=(Point(FEE_2025, (1,), members=("clerk",), claims=("c1",)),),
    citations=(citation(1, "tariffs-2025", FEE_2025),),
)

STATEMENTS = (
    Statement(
        "maria",
        ANALYSIS,
        position="Guests pay more than they did.",
        option="raise the tariff",
        claims=(
            Claim("c1", "maria", ANALYSIS, FEE_2025, (2,)),
            Claim("c2", "maria", ANALYSIS, CHINESE, (4,)),
        ),
        missing=("What neighbours charge.",),
        open_questions=("Who pays for the crane?",),
        method="small-model",
        usage=Usage(2, 900, 80, Decimal("0.0125")),
        tool_calls=(ToolCall("search_documents", {"query": "berth", "top_k": 3}, "", seconds=0.5),),
        rejected=("[^nowhere:1]",),
        read=(Reading("tariffs-2025", 0, 40),),
    ),
    Statement(
        "tom",
        ANALYSIS,
        option="leave it",
        claims=(
            Claim("c3", "tom", ANALYSIS, FEE_2021, (1,)),
            Claim(
                "c4",
                "tom",
                ANALYSIS,
                "The north quay has nine cranes.",
                (3,),
                Support.NOT_FOUND,
                (Problem(ProblemKind.NUMBER, "nine"), Problem(ProblemKind.WORDS, "cranes", "quay")),
            ),
        ),
        warnings=("The model of tom was slow.",),
        method="small-model",
    ),
    Statement(
        "finance", ANALYSIS, claims=(Claim("c5", "finance", ANALYSIS, QUAY, (3,)),), inner=INNER
    ),
    Statement(
        "tom",
        CROSS,
        replies=(
            Reply(
                "tom",
                CROSS,
                "c1",
                Stance.CONTRADICTS,
                FEE_2021,
                (1,),
                by=ConflictKind.NUMBER,
                values=("80", "60"),
            ),
            Reply("tom", CROSS, "c2", Stance.SILENT),
        ),
        concessions=(
            Concession(
                "tom",
                CROSS,
                "c3",
                "c1",
                "The newer list holds.",
                (2,),
                accepted=True,
                reason="The list of 2025 is new to tom.",
            ),
            Concession("tom", CROSS, "c4", "", "Very well.", reason="It brings no new evidence."),
        ),
        method="small-model",
    ),
)
ROWS = (
    MapRow(
        "c1",
        ("c1",),
        FEE_2025,
        (
            Cell("maria", Stance.SUPPORTS, ("c1",), (2,)),
            Cell("tom", Stance.CONTRADICTS, ("c3",), (1,)),
            Cell("finance", Stance.SILENT),
        ),
        (ClaimKind.ONE_MEMBER, ClaimKind.NEWER_AGAINST_OLDER),
        ("tariffs-2025",),
    ),
    MapRow(
        "c2",
        ("c2", "c5"),
        CHINESE,
        (
            Cell("maria", Stance.SUPPORTS, ("c2",), (4,)),
            Cell("tom", Stance.SILENT),
            Cell("finance", Stance.SUPPORTS, ("c5",), (3,)),
        ),
        (ClaimKind.SHARED_SOURCE,),
        ("tariffs-2025", "码头-1"),
        "码头-1",
    ),
    MapRow(
        "c4",
        ("c4",),
        "The north quay has nine cranes.",
        (
            Cell("maria", Stance.SILENT),
            Cell("tom", Stance.SUPPORTS, ("c4",), (3,)),
            Cell("finance", Stance.SILENT),
        ),
        (ClaimKind.ONE_MEMBER,),
        ("tariffs-2025",),
    ),
)
OUTDATED = Position(
    "maria",
    "a1",
    PositionKind.VALUE,
    ("60 euros",),
    ("60 eur",),
    FEE_2021,
    date="2021-01-15",
    citations=(1,),
)
READING = PositionTable(
    (
        Aspect("a1", "what does a guest berth cost", AspectKind.VALUE, "Tariffs change in 2027"),
        Aspect("a2", "may the north quay be used in winter", AspectKind.YES_NO),
    ),
    (
        Position(
            "maria",
            "a1",
            PositionKind.VALUE,
            ("80 euros",),
            ("80 eur",),
            FEE_2025,
            whose="our marina",
            date="2025-03-01",
            citations=(2,),
            outdated=OUTDATED,
            likely=0.9,
        ),
        replace(OUTDATED, member="tom", likely=0.8),
        Position("finance", "a1", PositionKind.SILENT),
        Position("maria", "a2", PositionKind.NO, text=QUAY, citations=(3,), likely=0.7),
        Position(
            "tom",
            "a2",
            PositionKind.CONDITIONAL,
            text=CHINESE,
            condition="在冬季",
            citations=(4,),
            likely=0.6,
        ),
        Position("finance", "a2", PositionKind.STATED, text=QUAY, citations=(3,), likely=0.6),
    ),
    (
        PositionComparison("a1", PositionRelation.DIFFER, (("maria",), ("tom",))),
        PositionComparison(
            "a2", PositionRelation.AGREE, (("maria", "finance"), ("tom",)), same_source=True
        ),
    ),
)
MINUTES = Minutes(
    "berths",
    "Berth tariffs",
    "Shall guests pay more from 2027?",
    purpose="The council sets the tariffs.",
    options=("raise the tariff", "leave it"),
    members=(
        ParticipantRecord(
            "maria", "Maria Lind", "persona", "maria", ("maria", "council_berths"), 2, "small-model"
        ),
        ParticipantRecord("tom", "Tom", "role", "", ("council_berths",), 1),
        ParticipantRecord("finance", "Finance", "council", "", (), 0),
    ),
    rounds=(ANALYSIS, CROSS, REBUTTAL),
    statements=STATEMENTS,
    absences=(Absence("maria", CROSS, "no answer within 30 s"),),
    map=DisagreementMap(
        MEMBERS,
        ROWS,
        (
            Dispute(
                ClaimKind.NEWER_AGAINST_OLDER,
                "guest berth costs euros night",
                (
                    DisputeSide(("maria",), FEE_2025, (2,), "c1", "80", "2025-03-01"),
                    DisputeSide(("tom",), FEE_2021, (1,), "c3", "60", "2021-01-15"),
                ),
                ConflictKind.NUMBER,
                newer=True,
            ),
            Dispute(
                ClaimKind.DIFFERENT_READINGS,
                "",
                (DisputeSide(("finance",), QUAY, (3,), "c5"), DisputeSide((), CHINESE, (4,))),
            ),
        ),
    ),
    decided="raise the tariff",
    decision=(Point(FEE_2025, (2,), claims=("c1",)),),
    grounds=(
        Point(QUAY, (3,), members=("maria", "finance"), claims=("c5",)),
        Point("Guests seldom stay.", (1,), Support.NOT_FOUND, (Problem(ProblemKind.WORDS, "x"),)),
    ),
    dissent=(Point(FEE_2021, (1,), members=("tom",), claims=("c3",)),),
    open_questions=(
        Point("Who pays for the crane?", (), Support.NO_STATEMENT, members=("maria",)),
    ),
    reading=READING,
    missing=(
        Gap("maria", "maria", "What neighbours charge."),
        Gap("tom", "", "The accounts of 2024."),
        Gap("", "library", "Any survey of guests."),
    ),
    matrix=(
        Verdict("raise the tariff", "maria", Leaning.FOR, FEE_2025, (2,)),
        Verdict("raise the tariff", "tom", Leaning.AGAINST, FEE_2021, (1,)),
        Verdict("raise the tariff", "finance", Leaning.SILENT),
        Verdict("leave it", "maria", Leaning.AGAINST),
        Verdict("leave it", "tom", Leaning.FOR, "", (1,)),
    ),
    citations=CITATIONS,
    chair="The chair",
    method="big-model",
    usage=Usage(5, 4_000, 300, Decimal("0.1")),
    warnings=("Searched by words alone.",),
)
EMPTY = Minutes("berths", "", "What then?")


# What the house itself names: hashes, and names that are looked up.
_OURS = frozenset(
    {"id", "key", "member", "claim", "to", "option", "options", "round", "rounds", "link"}
    | {"document_id", "rests_on", "sources", "decided", "aspect", "groups"}
)


def hostile(text: str, value: Any = MINUTES, name: str = "") -> Any:
    """Return minutes in which a text stands wherever a document, model or file name could."""
    if isinstance(value, Enum) or name in _OURS:
        return value
    if isinstance(value, str):
        named = name in {"claims", "members"}  # ids and keys, where they are no values of their own
        return value if named else text
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
