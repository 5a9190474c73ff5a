"""Questions and passages to train on, languages and sources balanced."""

import json
import random
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from vocabulary import PASSAGE, QUESTION

# Shares of the pairs; languages that are not named share what is left alike.
SHARES = {
    "en": 0.55, "de": 0.055, "fr": 0.04, "es": 0.035, "zh": 0.055, "it": 0.03, "ja": 0.025,
    "ru": 0.025, "ar": 0.035, "pt": 0.02, "nl": 0.02, "pl": 0.02, "ko": 0.02,
}  # fmt: skip
_LENGTHS = (150, 350, 700)  # characters of a passage at most
_OFTEN = (0.3, 0.4, 0.3)


@dataclass(frozen=True, slots=True)
class Pair:
    """A question, maybe in another language, and a passage that is about it."""

    language: str
    page: str
    question: str
    passage: str


def read_texts(file: Path, *, held_out: bool) -> dict[str, dict[str, list[dict[str, str]]]]:
    """Return passages by language and source; without copies of English in other languages."""
    found: dict[str, dict[str, list[dict[str, str]]]] = defaultdict(lambda: defaultdict(list))
    with file.open(encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            if row["held_out"] == held_out:
                found[row["language"]][row["source"]].append(row)
    english = {row["text"] for rows in found["en"].values() for row in rows}
    for language, sources in found.items():
        for source, rows in sources.items():
            if language != "en":
                sources[source] = [row for row in rows if row["text"] not in english]
    return found


def draw_pairs(file: Path, count: int, seed: int, *, held_out: bool = False) -> list[Pair]:
    """Return so many pairs, drawn without repetition, shuffled."""
    texts = read_texts(file, held_out=held_out)
    order = random.Random(seed)
    titles: dict[tuple[str, str], list[str]] = defaultdict(list)
    for sources in texts.values():
        for source, rows in sources.items():
            for row in rows:
                if len(row["title"]) > 8 and row["title"] not in titles[source, row["page"]]:
                    titles[source, row["page"]].append(row["title"])
    rest = (1 - sum(SHARES.values())) / max(1, len(texts.keys() - SHARES.keys()))
    drawn = []
    for language, sources in sorted(texts.items()):
        wanted = round(count * SHARES.get(language, rest))
        drawn += [_pair(row, titles, order) for row in _balanced(sources, wanted, order)]
    order.shuffle(drawn)
    return drawn


def _balanced(
    sources: dict[str, list[dict[str, str]]], count: int, order: random.Random
) -> list[dict[str, str]]:
    """Draw rows, from each source by the square root of what it has."""
    total = sum(len(rows) ** 0.5 for rows in sources.values()) or 1
    drawn = []
    for _, rows in sorted(sources.items()):
        share = round(count * len(rows) ** 0.5 / total)
        drawn += order.sample(rows, min(len(rows), share))
    return drawn


def _pair(
    row: dict[str, str], titles: dict[tuple[str, str], list[str]], order: random.Random
) -> Pair:
    text, title = row["text"], row["title"]
    longest = order.choices(_LENGTHS, _OFTEN)[0]
    begin = order.randrange(max(1, len(text) - longest))
    begin = text.rfind(" ", 0, begin + 1) + 1
    passage = text[begin : begin + longest]
    if title and order.random() < 0.5:
        passage = f"{title}\n{passage}"
    sentences = [part for part in re.split(r"[.!?。！？\n]+\s*", text) if 8 < len(part) < 200]
    known = titles.get((row["source"], row["page"]), [])
    if known and order.random() < 0.6:
        question = order.choice(known)
    else:
        question = order.choice(sentences) if sentences else text[:100]
    return Pair(row["language"], row["page"], QUESTION + question, PASSAGE + passage)


def interleaved(pairs: Sequence[Pair]) -> list[str]:
    """Return question and passage of each pair in turn."""
    return [text for pair in pairs for text in (pair.question, pair.passage)]
