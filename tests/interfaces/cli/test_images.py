import base64
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.models.chat_server import ChatServer, chat_server

from .conftest import Run

PNG = b"\x89PNG\r\n\x1a\n" + bytes(40)
SEEN = "The sign at the gate says 4 knots."


@pytest.fixture
def sees(tmp_path: Path) -> Iterator[ChatServer]:
    with chat_server([SEEN]) as server:
        (tmp_path / "home").mkdir()
        (tmp_path / "home" / "chapterhouse.toml").write_text(
            f'[language_model]\nengine = "openai"\nmodel = "m"\nbase_url = "{server.url}"\n'
        )
        (tmp_path / "gate.png").write_bytes(PNG)
        yield server


def test_a_model_is_shown_an_image(chapterhouse: Run, sees: ChatServer, tmp_path: Path) -> None:
    home = ("--home", tmp_path / "home")
    asked = chapterhouse(
        "ask", "What does the sign say?", "--file", tmp_path / "gate.png", "--json", *home
    )
    assert (asked.code, asked.data["text"]) == (0, SEEN)
    assert "images" in asked.data["notice"]
    assert asked.data["citations"] == []
    text, image = sees.requests[-1].body["messages"][-1]["content"]
    assert "What does the sign say?" in text["text"]
    sent = image["image_url"]["url"].removeprefix("data:image/png;base64,")
    assert base64.b64decode(sent) == PNG


def test_texts_beside_an_image_are_sources(
    chapterhouse: Run, sees: ChatServer, tmp_path: Path
) -> None:
    (tmp_path / "rules.md").write_text("# Rules\n\nIn the harbour no vessel may exceed 5 knots.\n")
    files = ("--file", tmp_path / "gate.png", "--file", tmp_path / "rules.md")
    asked = chapterhouse(
        "ask", "How many knots in the harbour?", *files, "--json", "--home", tmp_path / "home"
    )
    assert asked.data["text"] == SEEN
    text, _ = sees.requests[-1].body["messages"][-1]["content"]
    assert "exceed 5 knots" in text["text"]


def test_without_a_model_an_image_is_read_like_any_file(
    chapterhouse: Run, sees: ChatServer, tmp_path: Path
) -> None:
    options = ("--file", tmp_path / "gate.png", "--model", "none", "--home", tmp_path / "home")
    asked = chapterhouse("ask", "What does the sign say?", *options)
    assert asked.code != 0
    assert "OCR" in asked.err
    assert not sees.requests
