"""What a static table is fitted on: collections as the product cuts them, and a teacher's vectors.

Both take minutes, so they are kept in a folder outside the repository.
"""

import hashlib
import json
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from tokenizers import Tokenizer

from chapterhouse.chunking.build import embedding_text
from chapterhouse.models.embedders import unit_rows
from chapterhouse.models.model_folder import TOKENIZER, load, open_model_folder
from chapterhouse.retrieval.method import Method
from chapterhouse.retrieval.question import parse_question
from chapterhouse.types import Scope
from collection import Collection, open_collection
from data_folder import data_folder
from gold_spans import load_gold
from judged_sets import CorpusDocument, load_dataset

EVERYTHING = Scope.everything()

COLLECTIONS: Final = ("cranfield", "cacm", "xquad-en", "xquad-de", "xquad-zh", "pubmedqa",
                      "cisi", "npl", "time", "anthropic-docs", "chunking")  # fmt: skip
# Sentences for the teacher, an English one, and the SHA-256 of its weights.
SENTENCES: Final = {"cranfield": 1_300, "cacm": 1_600, "cisi": 1_300, "npl": 1_800, "time": 1_300,
                    "anthropic-docs": 1_100, "pubmedqa": 1_600, "xquad-en": 1_000}  # fmt: skip
TEACHER: Final = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TEACHER_TOKENS: Final = 56
CLS, SEP = 101, 102  # of its vocabulary
METHOD: Final = Method()
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_SENTENCE_ANYWHERE = re.compile(r"(?<=[.!?。！？])\s*|\n+")

Floats = NDArray[np.float32]
Texts = Sequence[str]


@dataclass(frozen=True, slots=True)
class Judged:
    """A collection as the product cuts it.

    Attributes:
        passages: What is embedded of each chunk.
        names: What each chunk counts for in the judgements.
        questions: What is embedded of each question.
        hits: For each question chunks found by their words, with their BM25 scores.
        grades: For each question the grades by name.
        pairs: Texts that belong together without anybody having said so.
    """

    passages: list[str]
    names: list[str]
    questions: list[str]
    hits: list[list[tuple[int, float]]]
    grades: list[dict[str, float]]
    pairs: list[tuple[str, str]]


# --- collections -------------------------------------------------------------------------------


def read_collections(cache: Path) -> dict[str, Judged]:
    """Return the collections, those that were read before out of the cache."""
    found = {}
    for name in COLLECTIONS:
        path = cache / f"{name}.json"
        if not path.exists():
            path.write_text(json.dumps(asdict(read_collection(name))), "utf-8")
        found[name] = Judged(**json.loads(path.read_text("utf-8")))
    return found


def read_collection(name: str) -> Judged:
    """Index a collection with the product and ask it by words alone."""
    if name == "chunking":
        gold = load_gold(data_folder() / name)
        documents = [CorpusDocument(each, "", text) for each, text in gold.texts.items()]
        questions = [question.text for question in gold.questions]
    else:
        dataset = load_dataset(data_folder() / "retrieval" / name)
        documents, questions = list(dataset.documents), list(dataset.questions.values())
        grades = [
            {name: float(grade) for name, grade in dataset.relevant[identifier].items()}
            for identifier in dataset.questions
        ]
    with open_collection(documents) as collection:
        chunks = [(document, chunk) for document in collection.store.documents(EVERYTHING)
                  for chunk in collection.store.chunks_of(document.id, EVERYTHING)]  # fmt: skip
        names = [collection.names[document.id] for document, _ in chunks]
        if name == "chunking":
            grades = [
                {str(place): share for place, (_, chunk) in enumerate(chunks)
                 if names[place] == question.corpus
                 and (share := _share(chunk.start, chunk.end, question.ranges))}
                for question in gold.questions
            ]  # fmt: skip
            names = [str(place) for place in range(len(chunks))]
        places = {chunk.id: place for place, (_, chunk) in enumerate(chunks)}
        asked = [ask(collection, question, places) for question in questions]
    return Judged(
        [embedding_text(document.title, chunk) for document, chunk in chunks],
        names,
        [content for content, _ in asked],
        [hits for _, hits in asked],
        grades,
        list(pairs_of(name, documents)),
    )


def _share(start: int, end: int, stretches: Sequence[tuple[int, int]]) -> float:
    inside = sum(max(0, min(end, last) - max(start, first)) for first, last in stretches)
    return inside / sum(last - first for first, last in stretches)


def ask(
    collection: Collection, text: str, places: Mapping[str, int]
) -> tuple[str, list[tuple[int, float]]]:
    """Return a question's content words and the chunks that its words find."""
    question = parse_question(text, collection.sources().census(EVERYTHING).languages)
    found = collection.lexical.search(question.terms, EVERYTHING, METHOD.lexical_depth)
    chunks = collection.store.chunks([hit.key for hit in found], EVERYTHING)
    return question.content, [(places[chunks[hit.key].id], hit.score) for hit in found]


def pairs_of(name: str, documents: Sequence[CorpusDocument]) -> Sequence[tuple[str, str]]:
    """Return titles with their texts, and sentences with those around them."""
    choose = random.Random(0)
    pairs = []
    for document in documents:
        text = document.text.split("CACM ")[0] if name == "cacm" else document.text
        if name == "npl":  # no titles, no sentences
            words = text.split()
            if len(words) > 24:
                cut = choose.randint(8, 12)
                pairs.append((" ".join(words[:cut]), " ".join(words[cut:])))
            continue
        if document.title and not name.startswith("xquad") and len(text) > 80:
            pairs.append((document.title, text.replace(document.title, "", 1)[:1200]))
        least = 8 if name == "xquad-zh" else 25
        sentences = [s for s in _SENTENCE_ANYWHERE.split(text) if len(s.strip()) > least]
        for start in range(0, min(len(sentences), 40) - 2, 5 if len(sentences) > 12 else 3):
            around = sentences[start : start + 5]
            one = around.pop(choose.randint(0, 2))
            pairs.append((one, " ".join(around)))
    return pairs


# --- the teacher -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Taught:
    """Sentences with the collection each is of, their vectors, and one for each token alone."""

    sentences: list[tuple[str, str]]
    vectors: Floats
    token_vectors: Floats
    tokenizer: Tokenizer


def taught(model: Path, cache: Path) -> Taught:
    """Ask the teacher, unless it said before.

    Raises:
        SystemExit: the folder holds another model.
    """
    weights = model / "model.safetensors"
    if hashlib.sha256(weights.read_bytes()).hexdigest() != TEACHER:
        raise SystemExit(f"{weights} is not the model that the figures were made with")
    sentences = teaching_sentences()
    folder = open_model_folder(str(model.resolve()), section="embedding")
    stored = cache / "teacher.npz"
    if not stored.exists():
        teacher = load(folder, "hidden")
        teacher.tokenizer.enable_truncation(TEACHER_TOKENS)

        def mean(ids: Sequence[int]) -> Floats:
            types = np.zeros(len(ids), dtype=np.int64)
            vector: Floats = teacher.forward(np.asarray(ids), types).mean(axis=0)
            return vector

        texts = [mean(teacher.tokenizer.encode(text).ids) for _, text in sentences]
        size = teacher.tokenizer.get_vocab_size()
        tokens = [mean([CLS, number, SEP]) for number in range(size)]
        np.savez(stored, texts=unit_rows(np.asarray(texts)), tokens=unit_rows(np.asarray(tokens)))
    with np.load(stored) as arrays:
        tokenizer = Tokenizer.from_str(folder.read(TOKENIZER).decode("utf-8"))
        return Taught(sentences, arrays["texts"], arrays["tokens"], tokenizer)


def teaching_sentences() -> list[tuple[str, str]]:
    """Return questions, titles, sentences and pairs of sentences, each with its collection."""
    choose = random.Random(0)
    found = []
    for name, number in SENTENCES.items():
        folder = data_folder() / "retrieval" / name
        texts = []
        for record in map(json.loads, (folder / "corpus.jsonl").open(encoding="utf-8")):
            sentences = [s.strip() for s in _SENTENCE.split(record["text"]) if len(s.strip()) > 25]
            if name == "cacm":  # the others are lists of citations
                sentences = [s for s in sentences if re.search("[a-z]{3}", s)]
            if record.get("title") and name != "xquad-en":
                texts.append(record["title"])
            texts += sentences
            texts += [f"{a} {b}" for a, b in zip(sentences[::3], sentences[1::3], strict=False)]
        lines = (folder / "queries.jsonl").open(encoding="utf-8")
        questions = [json.loads(line)["text"] for line in lines]
        choose.shuffle(texts)
        choose.shuffle(questions)
        asked = min(len(questions), number // 6)
        found += [(name, t.lower()) for t in questions[:asked] + texts[: number - asked]]
    choose.shuffle(found)
    return found


# --- texts as counts ---------------------------------------------------------------------------


class Counted:
    """Texts as rows of token counts, for one tokenizer."""

    def __init__(self, tokenizer: Tokenizer, sets: Mapping[str, Judged], sentences: Texts) -> None:
        tokenizer.no_padding()
        tokenizer.no_truncation()
        self._tokenizer = tokenizer
        self.passages = {name: self.rows(judged.passages) for name, judged in sets.items()}
        self.questions = {name: self.rows(judged.questions) for name, judged in sets.items()}
        self.pairs = {name: tuple(map(self.rows, zip(*judged.pairs, strict=True)))
                      for name, judged in sets.items()}  # fmt: skip
        self.sentences = self.rows(sentences)

    def rows(self, texts: Texts) -> Any:
        """Return counts, shape (texts, vocabulary)."""
        encoded = self._tokenizer.encode_batch_fast([t.lower() for t in texts],
                                                    add_special_tokens=False)  # fmt: skip
        ids = [np.unique(np.asarray(e.ids, dtype=np.int64), return_counts=True) for e in encoded]
        ends = np.cumsum([0, *(len(unique) for unique, _ in ids)])
        counts = np.concatenate([count for _, count in ids]).astype(np.float32)
        columns = np.concatenate([unique for unique, _ in ids])
        shape = (len(texts), self._tokenizer.get_vocab_size())
        return csr_matrix((counts, columns, ends), shape=shape)


def family(name: str) -> str:
    """Return a collection without its language."""
    return "xquad" if name.startswith("xquad") else name
