"""Libraries with personas in which a test asks, of a model that says what the test tells it to."""

import asyncio
import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from chapterhouse import Library
from chapterhouse.agents.ask import ask
from chapterhouse.answering.request import AskOptions
from chapterhouse.answering.runtime import Runtime
from chapterhouse.models.scripted import Scripted, ScriptedModel
from chapterhouse.settings import Settings
from chapterhouse.types import Answer, AskEvent, DraftEvent

RULES = """# Rules

## Speed

Inside the harbour no vessel may exceed 4 knots. The duty officer grants exceptions.

## Opening

The gate closes at 21:30 from April to September.
"""

TARIFF = """# Tariff

## Berths

A berth in the marina costs 80 euros a metre. Guests pay 20 euros a night.
"""

TIDES = "# Tides\n\nSlack water at Osk pier lasts eleven minutes. Slack water is short in spring.\n"
BERTHS = "# Berths\n\nA berth at the quay costs 80 euros a metre. A berth has shore power.\n"

Script = list[Scripted] | Callable[[str, str], Scripted]


def unrephrased(settings: Settings) -> Settings:
    """Return settings under which a model is only asked to answer, so that scripts stay short."""
    off = {"rewrite": "never"}
    return settings.model_copy(update={"expansion": settings.expansion.model_copy(update=off)})


@dataclass
class Room:
    """A library in which a test asks.

    Attributes:
        time: What the clock says, in seconds.
        models: By the name of their profile; "" is the library's own.
    """

    library: Library
    home: Path
    time: int = 1_700_000_000
    models: dict[str, ScriptedModel] = field(default_factory=dict)
    nonces: Iterator[int] = field(default_factory=lambda: count(1))

    def persona(
        self, slug: str, documents: Mapping[str, str], *, prose: str = "", **config: object
    ) -> None:
        personas = self.library.personas
        folder = personas.create(slug)
        for name, text in documents.items():
            (folder.rag / name).write_text(text, "utf-8")
        if prose:
            (folder.path / "persona.md").write_text(prose, "utf-8")
        written = {
            key.replace("__", "."): value if isinstance(value, str) else _json(value)
            for key, value in config.items()
        }
        if written:
            personas.change(slug, written)

    def says(
        self, *script: Scripted, name: str = "", fingerprint: str = "scripted"
    ) -> ScriptedModel:
        self.models[name] = ScriptedModel(list(script), fingerprint=fingerprint)
        return self.models[name]

    def runtime(self, settings: Settings | None = None) -> Runtime:
        return replace(
            self.library._runtime,
            settings=settings or unrephrased(self.library.settings),
            language_model=self.models.get,
            now=lambda: self.time,
            nonce=lambda: f"nonce{next(self.nonces)}",
        )


def _json(value: object) -> str:
    return json.dumps(value)


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    with Library.open(tmp_path / "home") as library:
        yield Room(library, tmp_path / "home")


@pytest.fixture
def harbour(room: Room) -> Room:
    room.persona(
        "maria",
        {"rules.md": RULES},
        prose="She keeps the harbour.",
        display_name="Maria Keller",
        tags=["harbour-rules"],
        profile__expertise="Speed and opening of the harbour.",
    )
    room.persona(
        "jonas",
        {"tariff.md": TARIFF},
        prose="He keeps the till.",
        display_name="Jonas Brandt",
        profile__expertise="Prices of berths in the marina.",
    )
    return room


@pytest.fixture
def make_room() -> Callable[[Path], AbstractContextManager[Room]]:

    @contextmanager
    def opened(folder: Path) -> Iterator[Room]:
        with Library.open(folder) as library:
            yield Room(library, folder)

    return opened


SPEED = "How fast may a vessel go inside the harbour?"
PRICE = "What does a berth in the marina cost?"
FOREIGN = "Which vaccines does the dentist recommend for parrots?"

KNOTS = "Inside the harbour no vessel may exceed 4 knots."


def asked(room: Any, question: str, persona: str = "maria", **choices: Any) -> Answer:
    on_draft = choices.pop("on_draft", None)

    def emit(event: AskEvent) -> None:
        if isinstance(event, DraftEvent) and on_draft:
            on_draft(event.draft)

    chosen = AskOptions(**choices, drafts=on_draft is not None)
    return asyncio.run(ask(question, persona, chosen, room.runtime(), emit))


def marker_in(prompt: str) -> str:
    place = re.search(r"^(\[\d+\]) \w[^\n]*\n(?:(?!^\[).)*knots", prompt, re.DOTALL | re.MULTILINE)
    assert place, prompt
    return place[1]
