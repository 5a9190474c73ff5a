"""Fit the head that finds names, and measure it on texts that it was not fitted on.

    python benchmarks/entities.py [--write]

A softmax over nine labels for each word, on the states of the encoder in the box. Its texts are
English: news of 1987 to 2000 (CoNLL04), posts (WNUT 17) and encyclopedia pages (Re-DocRED, whose
development part is divided by documents). Times and amounts are no names: those of Re-DocRED have
kinds of their own, of CoNLL04's "Other" those without a capital but a month's or weekday's are left
out, and once measured as they are labelled. Judged are exact spans of the data's tokens; a name
that ends inside a token counts as ending with it. Two more heads are
fitted without one of the sources each, to see what names of unknown kinds of text cost.
``--write`` keeps the head fitted on all of them in ``text/entity_head.npz``.
"""

import argparse
import io
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby, product
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from chapterhouse import Library
from chapterhouse.ingest.embedding import ReadWithNames, embed_pending
from chapterhouse.models.built_in import built_in_encoder
from chapterhouse.text.entities import (
    KINDS,
    LABELS,
    EntityHead,
    entity_head,
    find_mentions,
)
from chapterhouse.text.entity_features import LINKS, Floats, describe
from chapterhouse.text.language_data import STOPWORDS, language_data
from chapterhouse.types import TokenVectors
from chapterhouse.types.graph import EntityKind, Mention
from measuring import Bar, Machine, Row, Table, data_folder, finish

HEAD: Final = Path(__file__).parents[1] / "src/chapterhouse/text/entity_head.npz"
PASSAGE: Final = 680  # characters, as of a chunk
HELD_OUT: Final = 100  # documents of Re-DocRED
EPOCHS: Final = 3
BATCH: Final = 256  # words
RATE: Final = 2e-3  # of learning, falling to a twentieth
RIDGE: Final = 1e-3
AVERAGED: Final = 0.005  # what a step counts in the mean of the weights that is kept
TRANSITIONS: Final = 0.5  # what the order of labels counts beside the words themselves
RUNS: Final = 5
ALONE: Final = "vectors alone"
WITH_NAMES: Final = "vectors and names"
OUTSIDE: Final = 0.1  # what counts against being no name: posts have more names than news
SOURCES: Final = ("conll04", "wnut17", "re-docred")
COMMON: Final = STOPWORDS["en"] | language_data()["en"].date_words
_ABBREVIATED: Final = "jan feb mar apr jun jul aug sep sept oct nov dec gmt est edt cst cdt pst pdt"
TIMES: Final = language_data()["en"].date_words | frozenset(_ABBREVIATED.split())
AS_LABELLED: Final = "conll04 with times and amounts"
OTHER: Final = frozenset({EntityKind.CONCEPT, EntityKind.PRODUCT, EntityKind.TECHNOLOGY})
NAMES: Final[Mapping[str, int]] = {  # what the data calls a kind, and its place among ours
    name: place
    for place, names in enumerate(
        (
            ("Peop", "person", "PER"),
            ("Org", "group", "corporation", "ORG"),
            ("Loc", "location", "LOC"),
            ("Other", "product", "creative-work", "MISC"),
        )
    )
    for name in names
}

Span = tuple[int, int, int]  # first token, the one behind the last, kind


@dataclass(frozen=True, slots=True)
class Passage:
    """A text of the data, its tokens joined by spaces, and the names in it."""

    tokens: tuple[str, ...]
    spans: frozenset[Span]

    @property
    def text(self) -> str:
        """The tokens with a space between each two."""
        return " ".join(self.tokens)

    @property
    def starts(self) -> NDArray[np.int64]:
        """Where each token starts in the text."""
        lengths = [0, *(len(token) + 1 for token in self.tokens)]
        return np.cumsum(lengths[: len(self.tokens)] or [0], dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Read:
    """Passages and their tokens as the encoder sees them."""

    passages: Sequence[Passage]
    vectors: Sequence[TokenVectors]


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """What is fitted on: features and label of each word, and where passages begin."""

    table: NDArray[np.float16]
    labels: NDArray[np.int64]
    first: NDArray[np.bool_]


# --- the data ------------------------------------------------------------------------------------


def passages(folder: Path) -> Mapping[str, tuple[list[Passage], list[Passage]]]:
    """Return of each source what is fitted on and what is measured."""
    conll, wnut = folder / "conll04/data/CoNLL04", folder / "wnut17"
    pages = json.loads((folder / "re-docred/dev_revised.json").read_text("utf-8"))
    return {
        "conll04": (
            list(map(names_alone, _tagged(conll / "train.txt", 1))),
            list(map(names_alone, _tagged(conll / "dev.txt", 1))),
        ),
        AS_LABELLED: ([], _tagged(conll / "dev.txt", 1)),
        "wnut17": (_tagged(wnut / "wnut17train.conll", 0), _tagged(wnut / "emerging.dev.conll", 0)),
        "re-docred": (
            [one for page in pages[HELD_OUT:] for one in _of_page(page)],
            [one for page in pages[:HELD_OUT] for one in _of_page(page)],
        ),
    }


def _tagged(path: Path, column: int) -> list[Passage]:
    """Return the sentences of a file with a token a line, its label behind it."""
    rows = [line.split("\t") for line in path.read_text("utf-8").splitlines()]
    wanted = [row[column:] if len(row) > column + 1 and row[column].strip() else [] for row in rows]
    return [_sentence(list(lines)) for some, lines in groupby(wanted, key=bool) if some]


def _sentence(rows: Sequence[Sequence[str]]) -> Passage:
    spans: list[Span] = []
    for place, label in enumerate(row[1].strip() for row in rows):
        kind = NAMES.get(label[2:], -1)
        if label.startswith("I-") and spans and spans[-1][1] == place:
            spans[-1] = (spans[-1][0], place + 1, spans[-1][2])
        elif kind >= 0:
            spans.append((place, place + 1, kind))
    return Passage(tuple(row[0].strip() for row in rows), frozenset(spans))


def _of_page(page: Mapping[str, list[list[dict[str, object]]]]) -> Iterator[Passage]:
    """Yield the sentences of a page, as many together as a chunk has."""
    mentions = [one for entity in page["vertexSet"] for one in entity if one["type"] in NAMES]
    tokens: list[str] = []
    spans: list[Span] = []
    for number, sentence in enumerate(page["sents"]):
        words = list(map(str, sentence))
        if tokens and len(" ".join([*tokens, *words])) > PASSAGE:
            yield Passage(tuple(tokens), frozenset(spans))
            tokens, spans = [], []
        for one in mentions:
            if one["sent_id"] == number:
                first, last = np.asarray(one["pos"]) + len(tokens)
                spans.append((int(first), int(last), NAMES[str(one["type"])]))
        tokens += words
    yield Passage(tuple(tokens), frozenset(spans))


def names_alone(passage: Passage) -> Passage:
    """Return a passage without the labels of times and amounts."""
    spans = {one for one in passage.spans if one[2] != NAMES["Other"] or _named(passage, one)}
    return Passage(passage.tokens, frozenset(spans))


def _named(passage: Passage, span: Span) -> bool:
    tokens = passage.tokens[span[0] : span[1]]
    return any(token[0].isupper() and token.lower().rstrip(".") not in TIMES for token in tokens)


def read(several: Sequence[Passage]) -> Read:
    """Return passages with the vectors of their tokens."""
    return Read(several, built_in_encoder().embed_passage_tokens([one.text for one in several]))


# --- fitting -------------------------------------------------------------------------------------


def examples(source: Read) -> Examples:
    """Return the features and the labels of all words."""
    tables, labels, first = [], [], []
    for passage, tokens in zip(source.passages, source.vectors, strict=True):
        words, table = describe(passage.text, tokens)
        if words:
            begins = np.asarray([word.start() for word in words])
            tables.append(table.astype(np.float16))
            labels.append(_labels(passage, begins))
            first.append(np.arange(len(words)) == 0)
    return Examples(np.concatenate(tables), np.concatenate(labels), np.concatenate(first))


def _labels(passage: Passage, begins: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the label of each word by the token in which it begins."""
    owners = np.searchsorted(passage.starts, begins, side="right") - 1
    labels = np.zeros(len(begins), dtype=np.int64)
    for first, last, kind in sorted(passage.spans):
        inside = np.flatnonzero((owners >= first) & (owners < last))
        labels[inside] = 2 * kind + 2
        labels[inside[:1]] = 2 * kind + 1
    return labels


def fit(parts: Sequence[Examples]) -> EntityHead:
    """Return the head under which the labels are likeliest, with a ridge.

    Steps by Adam over words in an order drawn with a fixed seed; what is kept is a running mean of
    the weights. Source: Kingma and Ba, ICLR 2015.
    """
    table = np.concatenate([part.table for part in parts])
    labels = np.concatenate([part.labels for part in parts])
    chance = np.random.default_rng(0)
    sample = table[chance.permutation(len(table))[:20_000]].astype(np.float32)
    scale = np.append(sample.std(axis=0) + 0.05, np.float32(1)).astype(np.float32)
    model = np.zeros((len(scale), LABELS), dtype=np.float32)
    mean, slopes, squares = model.copy(), model.copy(), model.copy()
    batches = [
        order[at : at + BATCH]
        for order in (chance.permutation(len(table)) for _ in range(EPOCHS))
        for at in range(0, len(table) - BATCH + 1, BATCH)
    ]
    for step, batch in enumerate(batches, start=1):
        rows = np.column_stack([table[batch], np.ones(len(batch))]).astype(np.float32)
        rows = (rows / scale).astype(np.float32)
        slope = rows.T @ (_chances(rows @ model) - np.eye(LABELS, dtype=np.float32)[labels[batch]])
        slope = slope / BATCH + np.float32(RIDGE) * model
        slopes += 0.1 * (slope - slopes)
        squares += 0.001 * (slope**2 - squares)
        rate = RATE * (1 - 0.95 * step / len(batches))
        even = np.sqrt(squares / (1 - 0.999**step)) + 1e-8
        model -= (rate * slopes / (1 - 0.9**step) / even).astype(np.float32)
        mean += AVERAGED * (model - mean)
    weights = mean / scale[:, None]
    weights[-1, 0] -= OUTSIDE
    return packed(weights[:-1], weights[-1], transitions(parts))


def _chances(logits: Floats) -> Floats:
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    chances: Floats = powers / powers.sum(axis=1, keepdims=True)
    return chances


def transitions(parts: Sequence[Examples]) -> Floats:
    """Return what a label counts after another: how much likelier it is there than anywhere."""
    counts = np.full((LABELS, LABELS), 0.1)
    for part in parts:
        before = np.where(part.first, 0, np.roll(part.labels, 1))
        np.add.at(counts, (before, part.labels), 1)
    after = counts / counts.sum(axis=1, keepdims=True)
    found = TRANSITIONS * np.log(after / (counts.sum(axis=0) / counts.sum()))
    for inside in range(2, LABELS, 2):  # it follows the beginning or the inside of its kind alone
        others = np.setdiff1d(np.arange(LABELS), [inside - 1, inside])
        found[others, inside] = -1e4
    result: Floats = found.astype(np.float32)
    return result


def packed(weights: Floats, bias: Floats, after: Floats) -> EntityHead:
    """Return a head with the numbers that its file will hold."""
    return entity_head(head_bytes(weights, bias, after))


def head_bytes(weights: Floats, bias: Floats, after: Floats) -> bytes:
    """Return the file of a head: half precision, and the encoder that it was fitted on."""
    buffer = io.BytesIO()
    half = {"weights": weights, "bias": bias, "transitions": after}
    arrays: dict[str, NDArray[Any]] = {
        name: numbers.astype(np.float16) for name, numbers in half.items()
    }
    arrays["encoder"] = np.array(built_in_encoder().fingerprint)
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


# --- measuring -----------------------------------------------------------------------------------


def capitals(passage: Passage) -> set[Span]:
    """Return runs of tokens with a capital; small link words may stand inside one."""
    marks = "".join(
        "C" if token[0].isupper() else "l" if token in LINKS else "." for token in passage.tokens
    )
    found, place = set(), 0
    while place < len(marks):
        last = place
        while last < len(marks) and marks[last] != ".":
            last += 1
        own = marks[place:last].strip("l")
        if "C" in own:
            first = place + marks[place:last].index("C")
            lone = len(own) == 1 and passage.tokens[first].lower() in COMMON
            found |= set() if lone else {(first, first + len(own), -1)}
        place = last + 1
    return found


def found_spans(passage: Passage, mentions: Sequence[Mention]) -> set[Span]:
    """Return mentions as spans of the tokens that they touch."""
    places = {kind: place for place, kind in enumerate(KINDS)} | dict.fromkeys(OTHER, 3)
    starts = passage.starts
    return {
        (
            int(np.searchsorted(starts, one.start, side="right")) - 1,
            int(np.searchsorted(starts, one.end)),
            places[one.kind],
        )
        for one in mentions
    }


def scores(pairs: Sequence[tuple[set[Span], frozenset[Span]]]) -> tuple[float, float]:
    """Return F1 of exact spans, and of exact spans with their kind."""
    right = typed = found = wanted = 0
    for ours, gold in pairs:
        places, gold_places = {one[:2] for one in ours}, {one[:2] for one in gold}
        right += len(places & gold_places)
        typed += len(ours & gold)
        found += len(places)
        wanted += len(gold_places)
    total = max(found + wanted, 1)
    return round(2 * right / total, 3), round(2 * typed / total, 3)


def measure(head: EntityHead, source: Read) -> tuple[float, float]:
    """Return what a head finds: F1 of spans, and with their kinds."""
    pairs = [
        (found_spans(one, find_mentions(one.text, tokens, head)), one.spans)
        for one, tokens in zip(source.passages, source.vectors, strict=True)
    ]
    return scores(pairs)


def times(pages: Sequence[Mapping[str, Any]]) -> Mapping[str, tuple[float, float]]:
    """Return how long vectors take alone and with names: seconds, and those of a processor.

    The texts are pages in a library; medians of runs by turns, all that is written included.
    """
    encoder, taken = built_in_encoder(), dict[str, list[tuple[float, float]]]()
    with TemporaryDirectory(prefix="names-") as name:
        (Path(name) / "chapterhouse.toml").write_text("[embedding]\nbackground = false\n")
        with Library.open(Path(name)) as library:
            for number, page in enumerate(pages):
                text = "\n\n".join([f"# {page['title']}", *(one.text for one in _of_page(page))])
                library.documents.add_bytes(text.encode(), f"{number}.md")
            runtime = library._runtime  # noqa: SLF001 - its parts one by one
            readers: Mapping[str, ReadWithNames]
            readers = {ALONE: lambda _: {}, WITH_NAMES: partial(runtime.graph.read, runtime.store)}
            for run, (label, read) in product(range(RUNS + 1), readers.items()):
                runtime.store.embeddings().drop_others([])
                runtime.graph.rebuild(runtime.store)
                begun = time.perf_counter(), time.process_time()
                made = embed_pending(runtime.store, encoder, read=read)
                ended = time.perf_counter(), time.process_time()
                assert made == len(pages)
                assert runtime.graph.pending() == (made if label == ALONE else 0)
                if run:  # the first loads the model
                    taken.setdefault(label, []).append((ended[0] - begun[0], ended[1] - begun[1]))
    return {
        label: (round(median(wall), 2), round(median(own), 2))
        for label, pairs in taken.items()
        for wall, own in [tuple(zip(*pairs, strict=True))]
    }


def fitted(data: Mapping[str, tuple[list[Passage], list[Passage]]]) -> Mapping[str, EntityHead]:
    """Return the head of all sources, and those that lack one."""
    parts = {name: examples(read(data[name][0])) for name in SOURCES}
    heads = {"all sources": fit(list(parts.values()))}
    for absent in ("conll04", "re-docred"):
        heads[f"without {absent}"] = fit([parts[name] for name in SOURCES if name != absent])
    return heads


def bars_of(
    found: Mapping[str, Mapping[str, tuple[float, float]]],
    size: int,
    taken: Mapping[str, tuple[float, float]],
) -> list[Bar]:
    """Return what must hold, of what each head finds in each source, and of the time it takes."""
    added = [taken[WITH_NAMES][one] / taken[ALONE][one] - 1 for one in (0, 1)]
    whole, without = found["all sources"], found["without conll04"]
    return [
        Bar("conll04: spans, F1", whole["conll04"][0], least=0.78),
        Bar("conll04: spans with their kinds, F1", whole["conll04"][1], least=0.70),
        Bar("conll04, fitted without it: spans, F1", without["conll04"][0], least=0.72),
        Bar("wnut17: spans, F1", whole["wnut17"][0], least=0.56),
        Bar("re-docred: spans, F1", whole["re-docred"][0], least=0.78),
        Bar("kilobytes of the head", size / 1e3, most=60),
        Bar("time that names add to that of vectors", round(added[0], 3), most=0.15),
        Bar("time of a processor that they add", round(added[1], 3), most=0.15),
    ]


def table_of(
    found: Mapping[str, Mapping[str, tuple[float, float]]], measured: Mapping[str, Read]
) -> Table:
    """Return what capitals and each head find in each source."""
    plain = (
        scores([(capitals(one), one.spans) for one in own.passages]) for own in measured.values()
    )
    rows: list[Row] = [("capitals alone", *(cell for spans, _ in plain for cell in (spans, "–")))]
    rows += [
        (name, *(cell for pair in own.values() for cell in pair)) for name, own in found.items()
    ]
    columns = [f"{name}, {what}" for name in measured for what in ("spans", "kinds")]
    note = "A kind is right where it is the same of four: person, organization, location, other."
    return Table("Exact spans, F1", ("fitted on", *columns), tuple(rows), note)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="keep the head fitted on all sources")
    options = parser.parse_args()
    machine = Machine()
    data = passages(data_folder() / "graph")
    heads = fitted(data)
    measured = {name: read(parts[1]) for name, parts in data.items()}
    found = {
        name: {source: measure(head, own) for source, own in measured.items()}
        for name, head in heads.items()
    }
    whole = heads["all sources"]
    content = head_bytes(whole.weights, whole.bias, whole.transitions)
    if options.write:
        HEAD.write_bytes(content)
    pages = json.loads((data_folder() / "graph/re-docred/dev_revised.json").read_text("utf-8"))
    taken = times(pages[:HELD_OUT])
    rows = tuple((label, *own) for label, own in taken.items())
    note = f"{HELD_OUT} pages of Re-DocRED, medians of {RUNS} runs by turns."
    columns = ("made", "seconds", "seconds of a processor")
    speed = Table("Vectors alone and with names", columns, rows, note)
    return finish(
        "entities",
        "Names in English text",
        bars_of(found, len(content), taken),
        [table_of(found, measured), speed],
        machine.setting(),
        write=options.write,
    )


if __name__ == "__main__":
    raise SystemExit(main())
