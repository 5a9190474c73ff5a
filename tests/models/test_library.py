import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chapterhouse import Library
from chapterhouse.errors import ChapterhouseError, EngineError

NOTES = {
    "ferry.md": "# Ferry\n\nThe ferry leaves the harbour at nine in the morning.\n",
    "wind.md": "# Wind\n\nIn a strong wind the crane stands still and nobody loads.\n",
    "fare.md": "# Fares\n\nA ticket costs four crowns and is sold on board.\n",
}
Configure = Callable[..., None]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    for name, text in NOTES.items():
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "house"
    home.mkdir(mode=0o700)
    return home


@pytest.fixture
def configure(home: Path) -> Configure:
    """Write the settings of the embedder."""

    def write(**values: Any) -> None:
        lines = [f"{name} = {value!r}" for name, value in values.items()]
        (home / "chapterhouse.toml").write_text("\n".join(["[embedding]", *lines]))

    return write


def use_service(configure: Configure, service: Any, **more: Any) -> None:
    configure(engine="openai", model="small", base_url=service.url, attempts=1, **more)


def sent(service: Any) -> list[str]:
    return [text for request in service.requests for text in request.body["input"]]


def test_it_ingests_and_searches_through_a_service(
    home: Path, folder: Path, embedding_service: Any, configure: Configure
) -> None:
    use_service(configure, embedding_service, passage_prefix="doc: ", question_prefix="ask: ")
    with Library.open(home) as library:
        assert library.documents.add(folder).changed == 3
        assert not sent(embedding_service)[1:]  # but for the length of the vectors
        library.encoders.embed_pending()
        assert library.status().embedder == "openai/small/8/question='ask: '/passage='doc: '"
        found = library.search.hits("When does the ferry leave?")
        assert found.hits[0].document.source == "notes/ferry.md"
        assert "cosine" in found.hits[0].stages
        assert not found.warnings
        assert library.answers.ask("When does the ferry leave the harbour?").sentences
        assert all(check.passed for check in library.doctor())
    texts = sent(embedding_service)
    assert sum(text.startswith("doc: ") for text in texts) == 3
    assert any(text.startswith("ask: ") for text in texts)


def test_nothing_is_paid_for_twice(
    home: Path, folder: Path, embedding_service: Any, configure: Configure
) -> None:
    use_service(configure, embedding_service)
    with Library.open(home) as library:
        library.documents.add(folder)
        library.encoders.embed_pending()
    number = len(sent(embedding_service))
    with Library.open(home) as library:  # not even the length of the vectors is asked again
        library.documents.reprocess()
        assert all(one.done == one.total for one in library.encoders.statuses())
        (folder / "ferry.md").rename(folder / "ship.md")
        library.documents.add(folder)
        library.encoders.embed_pending()
        library.reindex()
        found = library.search.hits("When does the ferry leave?").hits[0]
        assert "cosine" in found.stages
        assert len(sent(embedding_service)) == number + 1  # the question
        (folder / "wind.md").write_text(f"{NOTES['wind.md']}\nThe gate stays open.\n")
        library.documents.add(folder)
        library.encoders.embed_pending()
    assert len(sent(embedding_service)) == number + 2
    assert not (home / "workspaces/default/cache").exists()


def test_a_library_that_knows_its_service_opens_and_searches_without_it(
    home: Path, folder: Path, embedding_service: Any, configure: Configure
) -> None:
    use_service(configure, embedding_service)
    with Library.open(home) as library:
        library.documents.add(folder)
        library.encoders.embed_pending()
    embedding_service.says(embedding_service.reply({"error": "restarting"}, status=503))
    with Library.open(home) as library:
        assert library.status().documents == 3
        assert all(check.passed for check in library.doctor())
        found = library.search.hits("When does the ferry leave?")
        assert found.hits[0].document.source == "notes/ferry.md"
        assert any("503: restarting" in warning for warning in found.warnings)


def test_a_service_may_not_be_there(home: Path, folder: Path, configure: Configure) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    configure(engine="openai", model="m", base_url=f"http://127.0.0.1:{port}/v1", attempts=1)
    with Library.open(home) as library:
        assert library.documents.add(folder).changed == 3
        found = library.search.hits("When does the ferry leave?")
        assert "cosine" not in found.hits[0].stages
        assert any("could not be reached" in warning for warning in found.warnings)
        assert library.encoders.is_pending()
        (waiting,) = library.encoders.statuses()
        assert waiting.name == "m"
        assert "embedding.dimensions" in waiting.problem
        with pytest.raises(EngineError, match="could not be reached"):
            library.encoders.embed_pending()


def test_a_service_that_fails_leaves_the_rest_pending_and_says_why(
    home: Path, folder: Path, embedding_service: Any, configure: Configure
) -> None:
    use_service(configure, embedding_service, dimensions=8, batch=1)
    well = embedding_service.answer

    def fails_at_wind(request: Any) -> Any:
        if "crane" in request.body["input"][0]:
            return embedding_service.reply({"error": "out of memory"}, status=500)
        return well(request)

    embedding_service.answer = fails_at_wind
    with Library.open(home) as library:
        assert library.documents.add(folder).changed == 3
        with pytest.raises(EngineError, match="500: out of memory"):
            library.encoders.embed_pending()
        (building,) = library.encoders.statuses()
        assert building.role == "building"
        assert building.done < building.total == 3
        assert "500: out of memory" in building.problem
        assert not library.search.hits("When does the ferry leave?").warnings  # words answer
        embedding_service.answer = well
        (active,) = library.encoders.embed_pending()
        assert (active.name, active.role, active.done) == ("small", "active", 3)
        assert not active.problem


def test_a_library_lives_on_a_model_in_a_folder(
    home: Path, folder: Path, model_folder: Path, configure: Configure
) -> None:
    configure(engine="folder", folder=str(model_folder))
    with Library.open(home) as library:
        library.documents.add(folder)
        library.encoders.embed_pending()
        assert library.status().embedder.startswith("folder/tiny-model/")
        found = library.search.hits("the ferry leaves the harbour")
        assert "cosine" in found.hits[0].stages
        assert all(check.passed for check in library.doctor())
    first = model_folder / "tokenizer.json"
    first.write_text(first.read_text() + "\n")
    with Library.open(home) as library:  # it is another encoder now, and the last one is gone
        found = library.search.hits("the ferry")
        assert found.hits
        assert "have changed" in found.warnings[0]
        library.encoders.embed_pending()
        assert not library.search.hits("the ferry").warnings


def test_a_library_asks_nobody(home: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        pytest.fail("a plain library opened a connection")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    with Library.open(home) as library:
        library.documents.add(folder)
        assert library.search.hits("ferry").hits
        assert library.answers.ask("When does the ferry leave the harbour?").sentences
    assert not (home / "workspaces/default/cache").exists()


@pytest.mark.parametrize("section", ["rerank", "language_model"])
def test_engines_not_asked_yet_stop_no_library(home: Path, folder: Path, section: str) -> None:
    engine = {"rerank": "http", "language_model": "openai"}[section]
    (home / "chapterhouse.toml").write_text(
        f"[{section}]\nengine = '{engine}'\nmodel = 'm'\nbase_url = 'http://127.0.0.1:9/v1'\n"
    )
    with Library.open(home) as library:
        assert library.documents.add(folder).changed == 3
        assert np.isfinite(library.search.hits("ferry").hits[0].score)


def test_a_key_in_a_setting_is_refused_and_not_shown(home: Path) -> None:
    key = "sk-not-a-real-key-8c41"
    for lines in (f"key_variable = '{key}'", f"base_url = 'https://you:{key}@example.org/v1'"):
        (home / "chapterhouse.toml").write_text(f"[embedding]\n{lines}\n")
        with pytest.raises(ChapterhouseError) as caught:
            Library.open(home)
        assert key not in f"{caught.value!r} {caught.value.hint}"
