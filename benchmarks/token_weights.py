"""Compute the general token weights of the static embedder: square roots of smoothed IDF.

The table is a property of the language, not of anybody's library: it is computed once, from
collections that the quality figures are not measured on, and committed. Run again only when the
embedder's tokenizer changes; stored vectors depend on it through the embedder's fingerprint.

    python benchmarks/token_weights.py
"""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from chapterhouse.models.static import StaticEmbedder
from data_folder import data_folder

# Not cranfield, cacm, xquad or pubmedqa: those are measured.
COLLECTIONS = ("cisi", "npl", "time", "anthropic-docs")
VOCABULARY = 32_000
PASSAGE = 1_000
TARGET = Path(__file__).parent.parent / "src/chapterhouse/models/token_weights.npy"


def passages(data: Path) -> Iterator[str]:
    """Yield texts of about a chunk's length."""
    texts = [path.read_text("utf-8") for path in sorted((data / "chunking/corpora").glob("*.md"))]
    for name in COLLECTIONS:
        with (data / "retrieval" / name / "corpus.jsonl").open(encoding="utf-8") as lines:
            texts.extend(json.loads(line)["text"] for line in lines)
    for text in texts:
        for start in range(0, len(text), PASSAGE):
            yield text[start : start + PASSAGE].lower()


def main() -> None:
    tokenizer = StaticEmbedder()._tokenizer  # noqa: SLF001 - the very tokenizer it will be used with
    frequency = np.zeros(VOCABULARY)
    total = 0
    for text in passages(data_folder()):
        ids = np.unique(np.asarray(tokenizer.encode(text, add_special_tokens=False).ids, dtype=int))
        frequency[ids] += 1
        total += 1
    inverse = np.log(1 + (total - frequency + 0.5) / (frequency + 0.5))
    weights = np.sqrt(inverse / inverse.max()).astype(np.float16)
    np.save(TARGET, weights, allow_pickle=False)
    print(f"{total} passages, weights {weights.min():.3f} to {weights.max():.3f}")


if __name__ == "__main__":
    main()
