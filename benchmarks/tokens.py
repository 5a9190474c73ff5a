"""Fit what the package ships about tokens: the estimate of their number, and their weights.

    python benchmarks/tokens.py              measure the estimate against a real tokenizer
    python benchmarks/tokens.py --fit        print the weights of the estimate that fit best
    python benchmarks/tokens.py --weights    write the general token weights of the static embedder

The token weights are square roots of smoothed IDF: a property of the language, not of anybody's
library, made of collections that the quality figures are not measured on. They are written again
only when the embedder's tokenizer changes; stored vectors depend on them through its fingerprint.
"""

import argparse
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from chapterhouse.models.static import StaticEmbedder
from chapterhouse.text.counting import KINDS, count_kinds, estimate_tokens
from measuring import data_folder

SAMPLE = 300
CHUNK = 1_000
RESULTS = Path(__file__).parent / "results" / "tokens.md"
# Not cranfield, cacm, xquad or pubmedqa: those are measured.
COLLECTIONS = ("cisi", "npl", "time", "anthropic-docs")
VOCABULARY = 32_000
PASSAGE = 1_000
TARGET = Path(__file__).parents[1] / "src/chapterhouse/models/token_weights.npy"


def samples(data: Path) -> Mapping[str, list[str]]:
    """Return up to ``SAMPLE`` chunk-sized texts of each kind of document."""
    collections = {
        name: list(_corpus(data / "retrieval" / name))
        for name in (
            "cranfield",
            "cacm",
            "xquad-en",
            "xquad-de",
            "xquad-zh",
            "pubmedqa",
            "anthropic-docs",
        )
    }
    for name in ("chatlogs", "wikitexts"):
        collections[name] = [(data / "chunking/corpora" / f"{name}.md").read_text("utf-8")]
    groundtruth = data / "documents/docling-groundtruth"
    for name in ("docx", "xlsx", "pdf", "html"):
        paths = sorted((groundtruth / name / "groundtruth").glob("*.md"))
        collections[name] = [path.read_text("utf-8", errors="replace") for path in paths]
    code = sorted((Path(__file__).parents[1] / "src").rglob("*.py"))
    collections["python"] = [path.read_text("utf-8") for path in code]
    return {name: list(_chunks(texts)) for name, texts in collections.items() if texts}


def _corpus(folder: Path) -> Iterator[str]:
    with (folder / "corpus.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)["text"]


def _chunks(texts: list[str]) -> Iterator[str]:
    pieces = [text[at : at + CHUNK] for text in texts for at in range(0, len(text), CHUNK)]
    step = max(len(pieces) // SAMPLE, 1)
    yield from pieces[::step][:SAMPLE]


def fit(texts: Mapping[str, list[str]], exact: Mapping[str, list[int]]) -> None:
    """Print the weights of least relative error, every collection weighing the same."""
    rows, targets = [], []
    for name, pieces in texts.items():
        for piece, tokens in zip(pieces, exact[name], strict=True):
            scale = 1 / (max(tokens, 1) * np.sqrt(len(pieces)))
            rows.append(np.asarray(count_kinds(piece)) * scale)
            targets.append(tokens * scale)
    weights = np.linalg.lstsq(np.asarray(rows), np.asarray(targets), rcond=None)[0]
    for kind, weight in zip(KINDS, weights, strict=True):
        print(f"{kind}: {weight:.3f}")


def passages(data: Path) -> Iterator[str]:
    """Yield texts of about a chunk's length."""
    texts = [path.read_text("utf-8") for path in sorted((data / "chunking/corpora").glob("*.md"))]
    for name in COLLECTIONS:
        with (data / "retrieval" / name / "corpus.jsonl").open(encoding="utf-8") as lines:
            texts.extend(json.loads(line)["text"] for line in lines)
    for text in texts:
        for start in range(0, len(text), PASSAGE):
            yield text[start : start + PASSAGE].lower()


def write_weights(data: Path) -> None:
    """Compute the weights and write them."""
    tokenizer = StaticEmbedder()._tokenizer  # noqa: SLF001 - the very tokenizer it will be used with
    frequency = np.zeros(VOCABULARY)
    total = 0
    for text in passages(data):
        ids = np.unique(np.asarray(tokenizer.encode(text, add_special_tokens=False).ids, dtype=int))
        frequency[ids] += 1
        total += 1
    inverse = np.log(1 + (total - frequency + 0.5) / (frequency + 0.5))
    weights = np.sqrt(inverse / inverse.max()).astype(np.float16)
    np.save(TARGET, weights, allow_pickle=False)
    print(f"{total} passages, weights {weights.min():.3f} to {weights.max():.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--weights", action="store_true")
    arguments = parser.parse_args()
    if arguments.weights:
        write_weights(data_folder())
        return
    texts = samples(data_folder())
    count = StaticEmbedder().count_tokens
    exact = {name: [count(piece) for piece in pieces] for name, pieces in texts.items()}
    if arguments.fit:
        fit(texts, exact)
    lines = [
        "# Token estimate against the Llama 2 tokenizer",
        "",
        "| texts | chunks | mean error | median absolute error | 95th percentile |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for name, pieces in texts.items():
        estimated = np.asarray([estimate_tokens(piece) for piece in pieces], dtype=float)
        errors = estimated / np.maximum(exact[name], 1) - 1
        low, high = np.median(np.abs(errors)), np.quantile(np.abs(errors), 0.95)
        lines.append(f"| {name} | {len(pieces)} | {errors.mean():+.1%} | {low:.1%} | {high:.1%} |")
    lines += ["", "Made by `python benchmarks/tokens.py`.", ""]
    RESULTS.write_text("\n".join(lines), "utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
