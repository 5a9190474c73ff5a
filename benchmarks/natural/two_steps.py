"""Questions that take two documents of a folder: are both cited, and both pieces of evidence shown?

    python benchmarks/natural/two_steps.py

Twenty questions over two open folders (``two_steps.jsonl``), with the evidence quoted, on which
nothing was chosen. Asked without a model, with the product's defaults.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))  # for the modules that all benchmarks share

from chapterhouse.library import Library
from libraries import opened
from vector_cache import vectors_cached

Evidence = Sequence[Mapping[str, str]]


def judge(library: Library, question: str, evidence: Evidence) -> tuple[int, int]:
    """Return how many documents of the evidence are cited, and of how many its words are shown."""
    answer = library.answers.ask(question, model="none", remember=False, use_cache=False)
    numbers = {number for one in answer.sentences for number in one.citations}
    cited = [one for one in answer.citations if one.number in numbers]
    documents = shown = 0
    for one in evidence:
        own = [each for each in cited if each.source.endswith(one["document"])]
        documents += bool(own)
        start = library.documents.body(own[0].document_id).text.find(one["quote"]) if own else -1
        end = start + len(one["quote"])
        shown += start >= 0 and any(each.start < end and start < each.end for each in own)
    return documents, shown


def main() -> None:
    path = Path(__file__).with_suffix(".jsonl")
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    with vectors_cached():
        for folder in dict.fromkeys(row["folder"] for row in rows):
            own = [row for row in rows if row["folder"] == folder]
            with opened(folder, "built-in") as library:
                found = [judge(library, row["question"], row["evidence"]) for row in own]
            for row, (documents, shown) in zip(own, found, strict=True):
                print(f"{row['id']}: {documents} cited, {shown} shown: {row['question']}")
            both = [sum(each[n] == len(own[0]["evidence"]) for each in found) for n in (0, 1)]
            print(
                f"{folder}: of {len(own)} both documents are cited in {both[0]}, "
                f"both pieces of evidence are shown in {both[1]}",
                flush=True,
            )


if __name__ == "__main__":
    main()
