from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import openai
import pytest
from tests.rooms import KNOTS, RULES, SPEED, TARIFF, Script, marker_in, unrephrased
from tests.served import Served, serving

from chapterhouse.agents.council import Council
from chapterhouse.library import Library
from chapterhouse.models.scripted import ScriptedModel, Step


class Desktop(Served):
    def openai(self, key: str = "") -> openai.OpenAI:
        return openai.OpenAI(base_url=f"{self.url}/v1", api_key=key or self.key(), max_retries=0)

    def script(self, script: Script) -> ScriptedModel:
        model = ScriptedModel(script)
        with self.state.workspaces.borrow("default") as library:
            runtime = library._runtime
            library._runtime = replace(
                runtime,
                language_model=lambda name: None if name else model,
                settings=unrephrased(runtime.settings),
            )
            library.__dict__.pop("answers", None)
        return model


def answer_of(client: openai.OpenAI, model: str) -> str:
    messages: Any = [{"role": "user", "content": SPEED}]
    return (
        client.chat.completions.create(model=model, messages=messages).choices[0].message.content
        or ""
    )


def desktop(served: Served) -> Desktop:
    return Desktop(served.home, served.url, served.access, served.state, served.loop)


def make_home(folder: Path) -> Path:
    (folder / "rules.md").write_text(RULES)
    with Library.open(folder / "home") as library:
        library.documents.add(folder / "rules.md")
        for slug, name, text in (
            ("maria", "Maria Keller", RULES),
            ("jonas", "Jonas Brandt", TARIFF),
        ):
            persona = library.personas.create(slug)
            (persona.rag / f"{slug}.md").write_text(text)
            library.personas.change(slug, {"display_name": name})
            library.personas.refresh(slug)
        board = Council.new("board", display_name="Harbour Board", purpose="Keep the harbour safe.")
        board = board.add_member("maria").add_member("jonas").add_round("independent_analysis")
        library.councils.create(board.add_round("synthesis").chair(name="Agnes", instructions=""))
    return folder / "home"


@pytest.fixture(scope="session")
def town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desktop]:
    """A server of a home with personas and a council; nobody comes in without a key."""
    with serving(make_home(tmp_path_factory.mktemp("town"))) as served:
        yield desktop(served)


@pytest.fixture(scope="session")
def client(town: Desktop) -> Iterator[openai.OpenAI]:
    with town.openai() as client:
        yield client


@pytest.fixture
def own_town(town: Desktop) -> Iterator[Desktop]:
    with town.state.workspaces.borrow("default") as library:
        before = library._runtime
        yield town
        library._runtime = before
        library.__dict__.pop("answers", None)


def knots(_: str, prompt: str) -> Step:
    marker = marker_in(prompt)
    text = f"{KNOTS} {marker} The duty officer grants exceptions {marker}. So be slow. Truly slow."
    return Step(text, pieces=(text,))  # at once, for drafts are made only now and then


def user(text: Any) -> Any:
    return {"role": "user", "content": text}


def ask(client: openai.OpenAI, *messages: Any, model: str = "chapterhouse", **more: Any) -> Any:
    return client.chat.completions.create(model=model, messages=list(messages), **more)
