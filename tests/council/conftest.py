"""A real library with three personas and a council, in which models say what a test tells them."""

import itertools
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from tests.rooms import Room
from tests.telemetry.conftest import exporter

from chapterhouse import Library
from chapterhouse.agents.council import Council
from chapterhouse.agents.councils import Councils
from chapterhouse.answering.runtime import Runtime
from chapterhouse.concurrency import run_sync
from chapterhouse.council.meeting.convene import Plan, convene, plan_meeting
from chapterhouse.council.meeting.session import MeetingOptions, Session, open_session
from chapterhouse.models.scripted import Scripted, ScriptedModel
from chapterhouse.settings import HOME_FILE
from chapterhouse.types import CouncilEvent, MeetingEvent, Minutes
from chapterhouse.types.engines import LanguageModel

__all__ = ["exporter"]

QUESTION = "How fast may a vessel go inside the harbour?"


def paper(title: str, date: str, **sections: str) -> str:
    parts = "".join(f"\n## {name}\n\n{said}\n" for name, said in sections.items())
    return f"---\ntitle: {title}\ndate: {date}\n---\n\n# {title}\n{parts}"


SPEED_LIMIT = "Inside the harbour no vessel may exceed {} knots"
RULES_2023 = paper(
    "Harbour Rules 2023",
    "2023-05-01",
    Speed=f"{SPEED_LIMIT.format(4)}. The lanternmaria officer grants exceptions in fog.",
    Gate="The gate of the harbour closes at 21:30 from April to September.",
)
RULES_2025 = paper(
    "Harbour Rules 2025",
    "2025-05-01",
    Speed=f"{SPEED_LIMIT.format(6)}. The lanternjonas officer grants exceptions in fog.",
    Berths="A berth in the marina costs 80 euros a metre.",
)
LOG = paper(
    "Log of the Pilots",
    "2024-02-01",
    Passages=f"{SPEED_LIMIT.format(6)}, the pilots were told. The lanternnina boat waits.\n\n"
    "Most of the 40 vessels a day keep well below the limit of speed.",
)
CHARTER = """# Charter of the Harbour Board

## Traffic

The traffic survey counted 40 vessels a day inside the harbour. A vessel is whatever floats.
"""
# Words that stand in the documents of one persona alone.
OWN = {"maria": "lanternmaria", "jonas": "lanternjonas", "nina": "lanternnina"}
NAMES = {"maria": "Maria Keller", "jonas": "Jonas Brandt", "nina": "Nina Falk"}
PROFILES = ("one", "two", "three")
Script = Callable[[str, str], Scripted]

_SOURCE = re.compile(r"^(\[\d+\]) (\w+(?: .*)?\n(?:(?!\[)[^\n]*\n)*)", re.MULTILINE)


@dataclass
class Hall:
    """A library in which a council of a test meets.

    Attributes:
        models: By the name of their profile; "" is the library's own.
        folder: Where transcripts of this test go.
    """

    library: Library
    folder: Path
    models: dict[str, LanguageModel] = field(default_factory=dict)
    events: list[MeetingEvent] = field(default_factory=list, repr=False)
    nonces: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def says(self, script: Script | list[Scripted], name: str = "", **more: Any) -> ScriptedModel:
        """Let the model of a profile write these, in turn or by a function."""
        model = ScriptedModel(script, **more)
        self.models[name] = model
        return model

    @property
    def runtime(self) -> Runtime:
        return replace(
            self.library._runtime,
            language_model=self.models.get,
            now=lambda: 1_700_000_000,
            nonce=lambda: f"nonce{next(self.nonces)}",
        )

    def open_session(
        self, council: str | Council, question: str = QUESTION, **more: Any
    ) -> Session:
        runtime = self.runtime
        chosen = Councils(runtime).require(council, more.get("tools", ()))
        return open_session(chosen, question, MeetingOptions(**more), runtime)

    async def convene_async(
        self, council: str | Council, question: str = QUESTION, **more: Any
    ) -> Minutes:
        """Hold a meeting; each has a transcript of its own unless the test names one."""
        more = {
            "transcript": self.folder / f"{next(self.nonces)}.ndjson",
            "remember": False,
            **more,
        }
        choices = MeetingOptions(**more)
        return await convene(council, question, choices, self.runtime, self.note)

    def note(self, event: CouncilEvent) -> None:
        if isinstance(event, MeetingEvent):
            self.events.append(event)

    def convene(self, council: str | Council, question: str = QUESTION, **more: Any) -> Minutes:
        return run_sync(self.convene_async(council, question, **more))

    def plan(self, council: str | Council, question: str = QUESTION, **more: Any) -> Plan:
        return run_sync(plan_meeting(council, question, MeetingOptions(**more), self.runtime))

    def debate(self, made: Council, question: str = QUESTION, **more: Any) -> Minutes:
        """Hold a meeting in which every member says what their documents say, and no chair."""
        self.says(honest)
        return self.convene(replace(made, chaired_by=None), question, **more)


def council(slug: str = "harbour-board", *members: str, rounds: tuple[Any, ...] = ()) -> Council:
    """Return a council of personas, of Maria, Jonas and Nina where nobody is named."""
    made = Council.new(slug, display_name="Harbour Board", purpose="Keep the harbour safe.")
    for member in members or tuple(NAMES):
        made = made.add_member(member)
    for entry in rounds or ("independent_analysis", "cross_examination", "rebuttal", "synthesis"):
        made = made.add_round(entry)
    return made.chair(name="Agnes Merrow", instructions="Weigh evidence, not voices.")


def turn(**said: Any) -> str:
    """Return what a model says in a round, in the form that is asked for."""
    whole: dict[str, Any] = {"positions": [], "replies": [], "missing": [], "open_questions": []}
    return json.dumps({**whole, **said}, ensure_ascii=False)


def position(text: str, *grounds: str, **more: str) -> dict[str, Any]:
    """Return a position in that form."""
    return {"position": text, "grounds": list(grounds), **more}


def markers(prompt: str) -> dict[str, str]:
    """Return the markers of a prompt's sources by what stands in them, the text of each source."""
    return {text: number for number, text in _SOURCE.findall(prompt)}


def marker(prompt: str, words: str) -> str:
    """Return the marker of the block of a prompt in which some words stand."""
    return next(name for block, name in markers(prompt).items() if words in block)


def section(prompt: str, title: str) -> str:
    """Return what stands under a title of a prompt; empty where it has none."""
    _, _, behind = prompt.partition(f"\n\n{title}\n")
    return re.split(r"\n\n(?=[A-Z][A-Z ]+)", behind, maxsplit=1)[0]


def whose(instructions: str) -> str:
    """Return the slug of the persona whom a system message speaks to; ``chair`` for the chair."""
    name = instructions.partition("You are ")[2].partition(".")[0]
    return next((slug for slug, called in NAMES.items() if called == name), "chair")


def phase(instructions: str) -> str:
    """Return the kind of the round that a system message belongs to."""
    told = {
        "Analyse the question on your own": "independent_analysis",
        "Others have made the statements": "cross_examination",
        "The statements below are opposed": "rebuttal",
        "You preside.": "synthesis",
        "Your task in this round": "own",
    }
    return next(kind for words, kind in told.items() if words in instructions)


SPEED = {"maria": "4 knots", "jonas": "6 knots", "nina": "6 knots"}


def others(prompt: str) -> dict[str, str]:
    """Return the statements of others in a prompt, the position by the id."""
    found = re.findall(
        r"^(s\d+), by .*\n¦ (.*)$", section(prompt, "STATEMENTS OF OTHERS"), re.MULTILINE
    )
    return dict(found)


def honest(instructions: str, prompt: str) -> str:
    """Say what the documents say, as a good model would, with markers that can be believed."""
    who, kind = whose(instructions), phase(instructions)
    if kind == "synthesis":
        cited = marker(prompt, "6 knots")
        sentence = f"Inside the harbour no vessel may exceed 6 knots.{cited}"
        return json.dumps({"decision": [sentence], "grounds": [f"{sentence}[s2]"]})
    speed = SPEED[who]
    own = f"Inside the harbour no vessel may exceed {speed}.{marker(prompt, speed)}"
    if kind == "independent_analysis":
        return turn(positions=[position(f"I am {who}: {speed}.", own, label=speed)])
    replies = [
        {"statement": name, "stance": "stand" if speed in text else "oppose", "reason": own}
        for name, text in others(prompt).items()
    ]
    return turn(replies=replies)


@pytest.fixture(scope="session")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """The library of the harbour board; tests that change anything make one of their own."""
    home = tmp_path_factory.mktemp("harbour")
    with Library.open(furnished(home)) as library:
        people(library)
        yield library


def furnished(home: Path) -> Path:
    """Write the settings of a library whose profiles the tests give models to."""
    home.mkdir(parents=True, exist_ok=True)
    profiles = "".join(f'[models.{name}]\nengine = "none"\n' for name in PROFILES)
    (home / HOME_FILE).write_text(profiles, "utf-8")
    return home


def people(library: Library) -> None:
    """Let Maria, Jonas and Nina move in, and found their council.

    Jonas sits alone in the till, and the till with Nina in the town.
    """
    room = Room(library, library.home)
    room.persona("maria", {"rules.md": RULES_2023}, display_name=NAMES["maria"])
    room.persona("jonas", {"rules.md": RULES_2025}, display_name=NAMES["jonas"])
    room.persona("nina", {"log.md": LOG}, display_name=NAMES["nina"])
    folder = library.councils.create(council())
    (folder.docs / "charter.md").write_text(CHARTER, "utf-8")
    rounds = ("independent_analysis", "synthesis")
    library.councils.create(council("till", "jonas", rounds=rounds))
    library.councils.create(council("town", "nina", rounds=rounds).add_member(council="till"))
    for slug in NAMES:
        library.personas.refresh(slug)
    library.councils.refresh("harbour-board")


@pytest.fixture
def hall(harbour: Library, tmp_path: Path) -> Hall:
    return Hall(harbour, tmp_path)


@pytest.fixture
def bare_hall(tmp_path: Path) -> Iterator[Hall]:
    """A library without anybody."""
    with Library.open(furnished(tmp_path / "home")) as library:
        yield Hall(library, tmp_path)


@pytest.fixture
def own_hall(tmp_path: Path) -> Iterator[Hall]:
    """A library with the same people that a test may change."""
    with Library.open(furnished(tmp_path / "home")) as library:
        people(library)
        yield Hall(library, tmp_path)


@pytest.fixture(scope="module", autouse=True)
def words_first(vectors_later: None) -> None:
    """Make no vectors while documents are added."""
