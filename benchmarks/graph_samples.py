"""Draw merges and relations of the graph from real texts, to be judged by readers.

    python benchmarks/graph_samples.py FOLDER --draw    # reads the texts into a library there
    python benchmarks/graph_samples.py FOLDER --show    # each with its sentences, to be judged
    python benchmarks/graph_samples.py --score [--write]

The texts are open: pages of an encyclopedia (Re-DocRED, 2WikiMultihopQA, XQuAD), documentation,
abstracts, minutes, policies and contracts. Half of the documents, by a hash of their names, are
OPEN: the rules were improved on them, and an earlier draw of the others was seen once. Drawn are a
hundred of each half, at most fifty by one rule as long as there are others. The texts are not
copied: a sample has names, the document and where its sentences are. Readers write ``right``,
``wrong`` or ``unclear``, which counts as wrong, into columns of their own without seeing each
other's.
"""

import argparse
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from chapterhouse import Library
from chapterhouse.types import Scope
from chapterhouse.types.graph import Entity, RelationType
from measuring import Bar, Machine, Row, Table, data_folder, finish

SAMPLES: Final = Path(__file__).parent / "graph"
HALVES: Final = ("open", "held")
DRAWN: Final = 100  # of each half
KINDS: Final = ("merges", "relations")
LEAST: Final = {"merges": 0.95, "relations": 0.8}
COLLECTIONS: Final = ("2wiki-open", "xquad-en", "anthropic-docs", "pubmedqa")
FOLDERS: Final = ("manual", "minutes", "site-policies", "contracts")
MOST_OF_A_KIND: Final = 50
PASSAGES: Final = 2_500  # of each collection, at most
READERS: Final = ("one", "two")


def texts(data: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the names and contents of all documents."""
    for page in json.loads((data / "graph/re-docred/dev_revised.json").read_text("utf-8")):
        text = " ".join(" ".join(words) for words in page["sents"])
        yield f"re-docred/{page['title'].replace('/', ' ')}", _plain(text).encode()
    for name in COLLECTIONS:
        rows = (data / f"retrieval/{name}/corpus.jsonl").read_text("utf-8").splitlines()
        for row in map(json.loads, rows[:PASSAGES]):
            yield f"{name}/{row['_id']}", row["text"].encode()
    for name in FOLDERS:
        for path in sorted((data / "folders" / name).rglob("*")):
            if path.suffix in {".md", ".txt"}:
                yield f"{name}/{path.relative_to(data / 'folders' / name)}", path.read_bytes()


def _plain(text: str) -> str:
    """Return a text of tokens as people write it."""
    for mark in (",", ".", ";", ":", "!", "?", ")", "'s", "%"):
        text = text.replace(f" {mark}", mark)
    return text.replace("( ", "(").replace(" - ", "-")


def fill(library: Library, folder: Path, data: Path) -> None:
    """Read the documents into a library, each half on its shelf."""
    for name, content in texts(data):
        half = HALVES[hashlib.sha256(name.encode()).digest()[0] % 2]
        path = folder / half / name
        path = path if path.suffix in {".md", ".txt"} else path.with_name(f"{path.name[:80]}.txt")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    for half in HALVES:
        library.documents.add(folder / half, shelf=half)


def draw(library: Library) -> Mapping[str, list[dict[str, Any]]]:
    """Return the samples of both halves by kind, in an order that says nothing."""
    found: dict[str, list[dict[str, Any]]] = {kind: [] for kind in KINDS}
    for half in HALVES:
        part = library.within(Scope.of([half]))
        entities = part.graph.entities(limit=10**9).entities
        merges = [(one, other) for one in entities for other in one.merged]
        for one, other in _some(
            merges, lambda pair: pair[1].reason, lambda pair: (pair[0].name, pair[1].name)
        ):
            found["merges"].append(
                {"half": half, "name": other.name, "entity": one.name, "reason": other.reason}
                | {"places": _places(part, one, (one.name, other.name))}
            )
        relations = [
            (one, other)
            for one, other in part.graph.links(entities)
            if other.relation is not RelationType.RELATED_TO
        ]
        for one, other in _some(
            relations,
            lambda pair: pair[1].relation,
            lambda pair: (pair[0].name, pair[1].entity.name),
        ):
            place = other.evidence
            found["relations"].append(
                {"half": half, "source": one.name, "relation": other.relation}
                | {"target": other.entity.name}
                | {"places": [[place.source, place.start, place.end]]}
            )
        print(half, len(entities), Counter(other.reason for _, other in merges))
        print(half, Counter(other.relation for _, other in relations))
    return found


def _some(
    found: Sequence[Any], kind: Callable[[Any], str], name: Callable[[Any], object]
) -> Sequence[Any]:
    """Return as many as are drawn; of a kind that would be most of them, at most so many.

    The order is that of a hash of what they are called, so that most stay when a rule changes.
    """
    mixed = sorted(found, key=lambda pair: hashlib.sha256(repr(name(pair)).encode()).digest())
    counts: Counter[str] = Counter()
    first: list[Any] = []
    rest: list[Any] = []
    for one in mixed:
        counts[kind(one)] += 1
        (first if counts[kind(one)] <= MOST_OF_A_KIND else rest).append(one)
    return [*first, *rest][:DRAWN]


def _places(library: Library, entity: Entity, names: Sequence[str]) -> list[list[Any]]:
    """Return a sentence with each of two names, of one document if there is one."""
    every = library.graph.show(entity.id, sentences=1_000).sentences
    own = [one for one in every if names[0] in one.text]
    # A last name stands in the whole name, too: a sentence that has it alone tells more.
    others = [one for one in every if names[1] in one.text.replace(names[0], "")] or [
        one for one in every if names[1] in one.text
    ]
    common = {one.document_id for one in own} & {one.document_id for one in others}
    chosen = [
        next((one for one in some if one.document_id in common), some[0])
        for some in (own, others)
        if some
    ]
    return [[one.source, one.start, one.end] for one in chosen]


def write(kind: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write a sample, keeping what readers said of rows that are the same."""
    told = {_key(row): row for row in read(kind)}
    lines = []
    for row in rows:
        said = {name: told.get(_key(row), {}).get(name, "") for name in READERS}
        lines.append(json.dumps({**row, **said}, ensure_ascii=False))
    SAMPLES.mkdir(exist_ok=True)
    (SAMPLES / f"{kind}.jsonl").write_text("\n".join(lines) + "\n", "utf-8")


def read(kind: str) -> list[dict[str, Any]]:
    """Return a sample as it is written."""
    path = SAMPLES / f"{kind}.jsonl"
    return (
        [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []
    )


def _key(row: Mapping[str, Any]) -> str:
    return json.dumps({name: row[name] for name in sorted(row) if name not in READERS})


def show(library: Library) -> None:
    """Print each with its sentences."""
    documents = {one.source: one.id for one in library.documents.list()}
    for kind in KINDS:
        for number, row in enumerate(read(kind)):
            print(
                f"{kind[0]}{number}",
                *(str(row[name]) for name in row if name not in {*READERS, "places", "half"}),
                sep=" | ",
            )
            for source, start, end in row["places"]:
                body = library.documents.body(documents[source])
                print("    ", source, "·", " ".join(body.text[start:end].split())[:400])


def score() -> tuple[list[Bar], list[Table]]:
    """Return what must hold, and how many each reader called right, by half and rule."""
    bars, tables = [], []
    for kind in KINDS:
        rows = read(kind)
        own = "reason" if kind == "merges" else "relation"
        for half in HALVES:
            for reader in READERS:
                said = [row[reader] for row in rows if row["half"] == half and row[reader]]
                if said:
                    share = round(said.count("right") / len(said), 3)
                    bars.append(Bar(f"{kind}, {half}, reader {reader}", share, least=LEAST[kind]))
        lines: list[Row] = []
        for name in sorted({row[own] for row in rows}):
            some = [row for row in rows if row[own] == name]
            counts = [sum(row[reader] == "right" for row in some) for reader in READERS]
            lines.append((name, len(some), *counts))
        both = [row for row in rows if all(row[reader] for reader in READERS)]
        alike = sum(row[READERS[0]] == row[READERS[1]] for row in both)
        note = f"Of {len(both)} that both judged, they agree on {alike}."
        columns = (own, "drawn", *(f"right: {reader}" for reader in READERS))
        tables.append(Table(kind.capitalize(), columns, tuple(lines), note))
    return bars, tables


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, help="where the library is")
    parser.add_argument("--draw", action="store_true", help="draw the samples anew")
    parser.add_argument("--show", action="store_true", help="print them with their sentences")
    parser.add_argument("--score", action="store_true", help="say what readers said")
    parser.add_argument("--write", action="store_true", help="keep the scores")
    options = parser.parse_args()
    if options.score:
        bars, tables = score()
        return finish(
            "graph_samples", "Merges and relations, judged", bars, tables, Machine().setting(), [],
            write=options.write,
        )  # fmt: skip
    if options.folder is None:
        parser.error("name the folder of the library")
    with Library.open(options.folder) as library:
        if options.draw:
            if next(library.documents.list(), None) is None:
                fill(
                    library, options.folder.with_name(f"{options.folder.name}-texts"), data_folder()
                )
            for kind, rows in draw(library).items():
                write(kind, rows)
        if options.show:
            show(library)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
