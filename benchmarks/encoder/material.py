"""What the student is trained on: texts without labels, in one order.

* chunks of the open natural folders (not the test folders) and some of their sentences,
* documents and questions of the open collections,
* documentation of Python and of the packages installed here: Markdown, reStructuredText and
  docstrings.
"""

import json
import random
import re
import site
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.append(str(Path(__file__).parents[1]))
sys.path.append(str(Path(__file__).parents[1] / "natural"))

from chapterhouse.chunking.build import embedding_text
from chapterhouse.library import Library
from folders import PARTS, lay_out
from measuring import data_folder

DOCUMENTATION = 40_000  # texts of it at most
_WORDS = 150  # of a piece of a document
_MOST_WORDS = 600  # of one document
_DOCSTRING = re.compile(r'"""(.{120,3000}?)"""', re.DOTALL)


def texts_for_training(seed: int) -> list[str]:
    """Return all texts, shuffled."""
    order = random.Random(seed)
    chunks = list(chunk_texts())
    texts = [*chunks, *_sentences(chunks, order), *_collections()]
    pieces = list(dict.fromkeys(_pieces(order)))
    order.shuffle(pieces)
    texts += pieces[:DOCUMENTATION]
    order.shuffle(texts)
    return texts


def chunk_texts() -> Iterator[str]:
    """Yield the chunks of the open natural folders, as they are embedded."""
    for folder in (name for name, part in PARTS.items() if part == "open"):
        with TemporaryDirectory(prefix="encoder-") as name:
            documents = lay_out(folder, data_folder(), Path(name) / "documents")
            with Library.open(Path(name) / "home") as library:
                library.documents.add(documents)
                for document in library.documents.list():
                    for chunk in library.documents.chunks(document.id):
                        yield embedding_text(document.title, chunk)


def _sentences(chunks: list[str], order: random.Random) -> Iterator[str]:
    for chunk in chunks:
        for sentence in re.split(r"(?<=[.!?])\s+", chunk):
            if 40 < len(sentence) < 300 and order.random() < 0.25:
                yield sentence


def _collections() -> Iterator[str]:
    for folder in sorted((data_folder() / "retrieval").iterdir()):
        for name in ("corpus.jsonl", "queries.jsonl"):
            path = folder / name
            for line in path.read_text("utf-8").splitlines() if path.exists() else ():
                row = json.loads(line)
                words = f"{row.get('title') or ''}\n{row.get('text') or ''}".split(" ")
                for start in range(0, min(len(words), _MOST_WORDS), _WORDS):
                    yield " ".join(words[start : start + _WORDS]).strip()


def _pieces(order: random.Random) -> Iterator[str]:
    for text in _documentation():
        for start in range(0, len(text), 700):
            piece = text[start : start + order.choice((150, 300, 700))].strip()
            letters = sum(character.isalpha() or character == " " for character in piece)
            if len(piece) > 80 and letters > 0.75 * len(piece):
                yield piece


def _documentation() -> Iterator[str]:
    roots = [Path(sysconfig.get_paths()["stdlib"]), *map(Path, site.getsitepackages())]
    for root in roots:
        for path in sorted(root.rglob("*")):
            if path.suffix in {".md", ".rst"}:
                yield path.read_text("utf-8", "ignore")[:40_000]
            elif path.suffix == ".py":
                yield from _DOCSTRING.findall(path.read_text("utf-8", "ignore"))
