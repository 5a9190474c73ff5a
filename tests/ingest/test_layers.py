"""Embedders that are open, each with its index: opened once, and the base where one cannot be."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chapterhouse.errors import EngineError
from chapterhouse.ingest.layers import VectorLayer, VectorLayers
from chapterhouse.settings import EmbeddingSettings
from chapterhouse.types import EncoderRecord, Fusion

SETTINGS = EmbeddingSettings(engine="folder", folder="/m").model_dump_json()


class Named:
    """An embedder of which only the name counts."""

    def __init__(self, fingerprint: str) -> None:
        self.fingerprint = fingerprint


def opening(folder: Path, open_embedder: Callable[[EmbeddingSettings], Any]) -> VectorLayers:
    base: Any = Named("base")
    index: Any = folder / "base"
    layer = VectorLayer(base, index, Fusion(0.5, 0.1, 0.9, 0.5))

    def open_index(place: Path, _: object) -> Any:
        place.mkdir(parents=True, exist_ok=True)
        return place

    return VectorLayers(folder, layer, open_embedder, open_index)


def test_an_encoder_is_opened_once(tmp_path: Path) -> None:
    opened: list[str] = []

    def open_embedder(settings: EmbeddingSettings) -> Named:
        opened.append(settings.folder)
        return Named("small")

    layers = opening(tmp_path, open_embedder)
    assert layers.known("small") is None
    first = layers.opened(EncoderRecord("small", SETTINGS))
    assert layers.opened(EncoderRecord("small", SETTINGS)) is first is layers.known("small")
    assert opened == ["/m"]
    assert layers.problem("small") == ""


@pytest.mark.parametrize(
    ("settings", "found", "says"),
    [
        (SETTINGS, EngineError("The folder is gone."), "The folder is gone."),
        (SETTINGS, Named("changed"), "they give changed, not small"),
        ("{}", EngineError("No."), "No."),
        ("no json", Named("small"), "JSON"),
    ],
)
def test_the_base_serves_where_an_encoder_cannot_be_opened_and_it_is_tried_once(
    tmp_path: Path, settings: str, found: Named | EngineError, says: str
) -> None:
    tries = 0

    def open_embedder(_: EmbeddingSettings) -> Named:
        nonlocal tries
        tries += 1
        if isinstance(found, EngineError):
            raise found
        return found

    layers = opening(tmp_path, open_embedder)
    record = EncoderRecord("small", settings)
    assert layers.opened(record) is layers.opened(record) is layers.base
    assert tries <= 1
    assert layers.known("small") is None
    assert says in layers.problem("small")
    assert "built-in table is used" in layers.problem("small")


def test_only_indexes_of_other_encoders_are_dropped(tmp_path: Path) -> None:
    layers = opening(tmp_path, lambda _: Named("unused"))
    for name in ("small", "large"):
        embedder: Any = Named(name)
        layers.add(embedder)
    (tmp_path / "lexical").mkdir()
    layers.drop_indexes(["small", "base"])
    left = {path.name for path in tmp_path.iterdir()}
    kept = layers.known("small")
    assert kept is not None
    assert left == {"lexical", Path(str(kept.index)).name}
