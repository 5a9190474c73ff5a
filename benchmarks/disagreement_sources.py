"""Paragraphs of real documents in two halves: other articles, partly other collections.

The development half is for choosing, the test half for reporting (XQuAD is divided by article, in
all its languages alike).
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from chapterhouse.types import Evidence

STRETCH = 1_500  # characters


@dataclass(frozen=True, slots=True)
class Source:
    """A paragraph of a document, its article, and its sentences."""

    id: str
    article: str
    title: str
    language: str
    text: str
    sentences: tuple[str, ...]
    half: int = 0

    @property
    def evidence(self) -> Evidence:
        """The paragraph as a stretch that was retrieved."""
        title = self.title.replace("_", " ")
        return Evidence(self.id, 0, len(self.text), self.text, self.language, title)


# --- documents ----------------------------------------------------------------------------------

_SPLIT = {"zh": re.compile(r"(?<=[。！？])"), "": re.compile(r"(?<=[.!?])\s+(?=[A-ZÄÖÜ\"“])")}
_ABBREVIATION = re.compile(
    r"(?:\b(?:[A-Z]|[Dd]r|[Ss]t|Mr|Mrs|vs|etc|bzw|ca|z\.B|Nr|Jh|No|al|e\.g|i\.e|approx)\.)$"
)


def sentences(text: str, language: str) -> tuple[str, ...]:
    """Split text at full stops; pieces that end with an abbreviation are left out."""
    pattern = _SPLIT.get(language, _SPLIT[""])
    low, high = (18, 110) if language == "zh" else (45, 240)
    found = []
    for line in text.split("\n"):
        parts = [part.strip() for part in pattern.split(line)]
        for number, part in enumerate(parts):
            whole = part.endswith((".", "。")) and not _ABBREVIATION.search(part)
            after_abbreviation = number and _ABBREVIATION.search(parts[number - 1])
            if whole and not after_abbreviation and low <= len(part) <= high:
                found.append(part)
    return tuple(found)


def beir(folder: Path, language: str, keep: Callable[[str], bool]) -> list[Source]:
    """Read the documents of a collection whose article ``keep`` accepts."""
    found = []
    for line in (folder / "corpus.jsonl").read_text().splitlines():
        record = json.loads(line)
        article = record["title"] or record["_id"]
        text = record["text"].strip()[:STRETCH]
        split = sentences(text, language)
        if keep(article) and len(split) >= 2:
            name = f"{folder.name}/{record['_id']}"
            found.append(Source(name, article, record["title"], language, text, split))
    return found


def stretches(file: Path) -> list[Source]:
    """Cut a long text into stretches at its line breaks."""
    found: list[Source] = []
    current = ""
    for line in [*file.read_text().split("\n"), ""]:
        if len(current) + len(line) > STRETCH and current:
            split = sentences(current, "en")
            name = f"{file.stem}/{len(found)}"
            found.append(Source(name, f"{file.stem}/{len(found) // 4}", "", "en", current, split))
            current = ""
        current = f"{current}\n{line}"[-STRETCH:].strip()
    return [source for source in found if len(source.sentences) >= 2]


@dataclass(frozen=True, slots=True)
class Half:
    """The documents of one half, by language."""

    name: str
    seed: int
    sources: dict[str, list[Source]]


def _articles(data: Path, half: int) -> frozenset[str]:
    lines = (data / "retrieval" / "xquad-en" / "corpus.jsonl").read_text().splitlines()
    titles = sorted({json.loads(line)["title"] for line in lines})
    return frozenset(titles[half::2])


def halves(data: Path) -> tuple[Half, Half]:
    """Return the development half and the test half."""
    retrieval = data / "retrieval"
    made = []
    for number, name in enumerate(("development", "test")):
        articles = _articles(data, number)
        sources = {
            language: beir(retrieval / f"xquad-{language}", language, articles.__contains__)
            for language in ("en", "de", "zh")
        }
        if number == 0:
            sources["en"] += beir(retrieval / "pubmedqa", "en", lambda _: True)[:150]
        else:
            sources["en"] += beir(retrieval / "anthropic-docs", "en", lambda _: True)
            for corpus in ("wikitexts", "state_of_the_union"):
                sources["en"] += stretches(data / "chunking" / "corpora" / f"{corpus}.md")[:80]
        sources = {
            language: [replace(source, half=number) for source in found]
            for language, found in sources.items()
        }
        made.append(Half(name, 20_260 + 7 * number, sources))
    return made[0], made[1]
