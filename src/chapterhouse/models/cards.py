"""Cards of known encoders: how they are asked, and how far they are trusted.

The figures of fusion belong to an encoder: cosines of unrelated texts lie near 0 for one and near
.75 for another. They are measured (``docs/decisions``); one that has no card counts little.
"""

from functools import cache
from importlib.resources import files
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict

from chapterhouse.settings import EmbeddingSettings
from chapterhouse.types import Fusion

_FILE: Final = "cards.json"


class Card(BaseModel):
    """What is known of an encoder.

    Attributes:
        also: Further names under which its fingerprint may show it.
        engine: By which it runs where it is named alone; empty for a model that has to be at hand.
        languages: Those that gain by its vectors; empty for all.
        fusion: How its cosines join the scores of words.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    summary: str
    also: tuple[str, ...] = ()
    licence: str
    engine: Literal["built-in", "openai", ""] = ""
    model: str = ""
    base_url: str = ""
    dimensions: int
    question_prefix: str = ""
    passage_prefix: str = ""
    languages: tuple[str, ...] = ()
    fusion: Fusion


class _Cards(BaseModel):
    cards: tuple[Card, ...]
    unknown: Card


def known_cards() -> tuple[Card, ...]:
    """Return the cards of all known encoders, what comes with Chapterhouse first."""
    return _cards().cards


def card_named(name: str) -> Card | None:
    """Return the card that users call ``name``, or None."""
    return next((card for card in known_cards() if _same(card, name)), None)


def card_of(fingerprint: str) -> Card:
    """Return the card of the embedder with this fingerprint, or the cautious one.

    A fingerprint names its engine, then its model, then how it is run.
    """
    parts = fingerprint.split("/")
    names = [fingerprint, *parts, *map("/".join, pairwise(parts))]
    bare = (name.partition("@")[0].partition(":")[0] for name in names)
    return next((card for name in bare if name and (card := card_named(name))), _cards().unknown)


def display_name(settings: EmbeddingSettings, fingerprint: str) -> str:
    """Return what people call an embedder: its card's name, its model, or its folder."""
    card = card_of(fingerprint)
    if card is not _cards().unknown:
        return card.name
    return settings.model or PurePosixPath(settings.folder).name or settings.engine


def _same(card: Card, name: str) -> bool:
    return name.casefold() in {each.casefold() for each in (card.name, *card.also)}


@cache
def _cards() -> _Cards:
    text = files("chapterhouse.models").joinpath(_FILE).read_text("utf-8")
    return _Cards.model_validate_json(text)
