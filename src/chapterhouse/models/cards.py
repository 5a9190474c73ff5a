"""Cards of known encoders: where their files are, how they are opened, how far they are trusted.

The figures of fusion belong to an encoder: cosines of unrelated texts lie near 0 for one and near
.75 for another. They are measured (``docs/decisions``); one that has no card counts little.
"""

from functools import cache
from importlib.resources import files
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Annotated, Final, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from chapterhouse.settings import EmbeddingSettings
from chapterhouse.types import Fusion

_FILE: Final = "cards.json"
_HUB: Final = "https://huggingface.co"


class CardFile(NamedTuple):
    """A file of a model: its name below the folder, its bytes and its SHA-256."""

    name: str
    size: int
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class Card(BaseModel):
    """What is known of an encoder.

    Attributes:
        name: What users call it.
        also: Further names under which its fingerprint may show it.
        engine: By which it runs; empty where that is not known.
        repository: On the model hub; empty where nothing is fetched.
        revision: The pinned commit.
        hosts: Redirects are followed to these hosts and the hosts below them, nowhere else.
        files: What is fetched.
        languages: Those that gain by its vectors; empty for all.
        fusion: How its cosines join the scores of words.
        chunks_per_second: Measured on two cores; 0 where nobody has.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    summary: str
    also: tuple[str, ...] = ()
    licence: str
    engine: Literal["built-in", "folder", "openai", ""] = ""
    repository: str = ""
    revision: str = ""
    hosts: tuple[str, ...] = ()
    files: tuple[CardFile, ...] = ()
    model: str = ""
    base_url: str = ""
    dimensions: int
    question_prefix: str = ""
    passage_prefix: str = ""
    languages: tuple[str, ...] = ()
    fusion: Fusion
    chunks_per_second: float = 0.0

    @property
    def card_files(self) -> tuple[CardFile, ...]:
        """The files that are fetched, smallest first: what is wrong shows early."""
        return tuple(sorted(self.files, key=lambda each: each.size))

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(each.size for each in self.files)

    def source(self, mirror: str = "") -> str:
        """Return the address below which its files are, on the hub or on a mirror of it."""
        return f"{(mirror or _HUB).rstrip('/')}/{self.repository}/resolve/{self.revision}"


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
