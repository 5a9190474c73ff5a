"""By what a document is cut, as a short name that changes when other chunks would come of it."""

import hashlib
import json
from collections.abc import Sequence
from typing import Final

from chapterhouse.settings import LONGEST, ChunkingSettings

# Raise it when the same settings cut a text otherwise, or count its tokens otherwise.
VERSION: Final = 2
_DIGITS: Final = 10


def cut_by(formats: Sequence[str], chunking: ChunkingSettings) -> str:
    """Return the fingerprint of what cuts a document: its strategy, and a hash of all that counts.

    ``formats`` has the closest name first: the file's extension, its format.
    """
    by_format = {name.lower().removeprefix("."): one for name, one in chunking.by_format.items()}
    chosen = (by_format[name] for name in formats if name in by_format)
    strategy = next(chosen, chunking.strategy)
    if strategy == "fixed":
        sizes = [chunking.maximum or LONGEST, chunking.overlap]
    elif strategy == "sentence":
        sizes = [chunking.maximum]
    else:
        sizes = [chunking.target, chunking.minimum, chunking.maximum]
    facts = json.dumps([VERSION, strategy, sizes, "estimate"])  # of tokens
    return f"{strategy}-{hashlib.sha256(facts.encode()).hexdigest()[:_DIGITS]}"


def formats_of(name: str, kind: str) -> tuple[str, ...]:
    """Return what a document is called for its chunker: the extension of its file, its format."""
    extension = name.rpartition("/")[2].rpartition(".")[2].lower()
    return tuple(dict.fromkeys((extension, kind)))
