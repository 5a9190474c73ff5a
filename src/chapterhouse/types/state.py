"""The state of a library, as status, doctor and the formats table show it."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LibraryStatus:
    """Counts and places, for ``status``."""

    home: str
    workspace: str
    documents: int
    chunks: int
    sequence: int
    by_format: Mapping[str, int]
    by_status: Mapping[str, int]
    by_shelf: Mapping[str, int]
    lexical_sequence: int
    vector_sequence: int
    embedder: str
    disk_bytes: int


@dataclass(frozen=True, slots=True)
class Census:
    """How much there is to search, and in which languages (documents by ISO 639-1 code)."""

    documents: int
    chunks: int
    languages: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Check:
    """One thing ``doctor`` looked at."""

    name: str
    passed: bool
    sentence: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class FormatSupport:
    """One row of ``docs formats``."""

    format: str
    extensions: tuple[str, ...]
    method: str
    available: bool
    note: str = ""
