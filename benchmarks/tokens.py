"""Fit and measure the token estimate against a real tokenizer (Llama 2's, which is offline).

python benchmarks/tokens.py          measure the estimate that is in the code
python benchmarks/tokens.py --fit    print the weights that fit best
"""

import argparse
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from chapterhouse.models.static import StaticEmbedder
from chapterhouse.text.counting import KINDS, count_kinds, estimate_tokens
from data_folder import data_folder

SAMPLE = 300
CHUNK = 1_000
RESULTS = Path(__file__).parent / "results" / "tokens.md"


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fit", action="store_true")
    arguments = parser.parse_args()
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
