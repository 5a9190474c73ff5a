"""Questions of two steps whose bridge is no document's title, with and without neighbours.

    python benchmarks/bridges.py [--part open|test|all] [--marks FILE] [--check] [--write]

"Who founded the company that built the ship X?": one document names the company beside the ship,
another its founder, and the question does not name the company. The questions are in
``bridges/questions.jsonl``, the documents are those of Re-DocRED's dev part in the shared data,
and those of ``2wiki-open`` beside them. Counted is whether all evidence is among the first eight
passages.
"""

import argparse
import json
import re
import sys
import unicodedata
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.append(str(Path(__file__).parent / "natural"))

from chapterhouse.answering.search import method_for, sources_of
from chapterhouse.library import Library
from chapterhouse.retrieval.candidates import Method
from chapterhouse.retrieval.pipeline import retrieve
from chapterhouse.types import Query, Scope
from libraries import made_of
from measuring import Bar, Machine, Row, Table, data_folder, finish
from plain_text import comparable

QUESTIONS = Path(__file__).parent / "bridges" / "questions.jsonl"
FIRST = 8  # passages
WITHOUT, WITH = "without neighbours", "with neighbours"
_MARKS = re.compile(r"[\u0300-\u036f]")
_BEFORE = re.compile(r" (?=[,.;:!?)\]%]|'s\b|n't\b)")
_BEHIND = re.compile(r"(?<=[(\[$]) ")

Pages = Mapping[str, Sequence[str]]  # sentences by title


@dataclass(frozen=True, slots=True)
class Question:
    """A question and what answers it.

    Attributes:
        bridge: What both documents name and the question does not.
        evidence: Title of a document and number of its sentence, from 0: one for each step.
    """

    id: str
    question: str
    bridge: str
    answer: str
    evidence: Sequence[tuple[str, int]]

    @property
    def part(self) -> str:
        """The half that it belongs to; all questions of one bridge belong to the same."""
        return ("open", "test")[zlib.crc32(self.bridge.encode()) % 2]


def read_questions() -> list[Question]:
    """Return all questions."""
    return [Question(**json.loads(line)) for line in QUESTIONS.read_text("utf-8").splitlines()]


def read_pages() -> Pages:
    """Return the sentences of every document as people write them, by its title."""
    path = data_folder() / "graph" / "re-docred" / "dev_revised.json"
    return {
        str(page["title"]): [
            _BEHIND.sub("", _BEFORE.sub("", " ".join(map(str, words)))) for words in page["sents"]
        ]
        for page in json.loads(path.read_text("utf-8"))
    }


def others(pages: Pages, questions: Sequence[Question]) -> Iterator[tuple[str, str]]:
    """Yield titles and texts of documents beside which the evidence has to be found.

    Those of 2wiki-open, of which none is called like a bridge or like one of ours.
    """
    taken = {*map(_key, pages), *(_key(one.bridge) for one in questions)}
    path = data_folder() / "retrieval" / "2wiki-open" / "corpus.jsonl"
    for page in map(json.loads, path.read_text("utf-8").splitlines()):
        if _key(page["title"]) not in taken:
            yield page["title"], page["text"]


def lay_out(pages: Pages, questions: Sequence[Question], folder: Path) -> None:
    """Write all documents into a folder."""
    own = [(title, " ".join(sentences)) for title, sentences in pages.items()]
    for number, (title, text) in enumerate([*own, *others(pages, questions)]):
        (folder / f"{number:05}.md").write_text(f"# {title}\n\n{text}\n", "utf-8")


@contextmanager
def opened(pages: Pages, questions: Sequence[Question]) -> Iterator[Library]:
    """Make a library of all documents whose names are read, and remove it in the end."""
    with TemporaryDirectory(prefix="bridges-") as name:
        lay_out(pages, questions, Path(name))
        with made_of(Path(name), "built-in") as library:
            library.graph.fill()
            yield library


def check(pages: Pages, questions: Sequence[Question]) -> Iterator[str]:
    """Yield what is wrong with questions by the texts."""
    titles = set(map(_key, pages))
    for one in questions:
        bridge = _key(one.bridge)
        if bridge in titles or f" {bridge} " in f" {_key(one.question)} ":
            yield f"{one.id}: {one.bridge} is a title or in the question"
        for title, number in one.evidence:
            if number >= len(pages.get(title, ())):
                yield f"{one.id}: {title} has no sentence {number}"
            elif bridge not in _key(" ".join(pages[title])):
                yield f"{one.id}: {title} does not name {one.bridge}"


def _key(text: str) -> str:
    plain = unicodedata.normalize("NFKD", re.sub(r"^the ", "", comparable(text).casefold()))
    return re.sub(r"\W+", " ", _MARKS.sub("", plain)).strip()


def found(question: Question, pages: Pages, library: Library, method: Method) -> list[bool]:
    """Return of each sentence of the evidence whether it is in the first passages."""
    runtime = library._runtime  # noqa: SLF001 - with a method of our own
    query = Query(question.question, Scope.everything(), FIRST, 0)
    hits = retrieve(query, sources_of(runtime), method).hits
    return [
        any(
            hit.document.title == title and _key(pages[title][number]) in _key(hit.chunk.text)
            for hit in hits
        )
        for title, number in question.evidence
    ]


def main() -> int:
    """Ask every question both ways and report."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--part", choices=("open", "test", "all"), default="open")
    parser.add_argument("--marks", type=Path, help="writes what became of each question")
    parser.add_argument("--check", action="store_true", help="proves the questions by the texts")
    parser.add_argument("--write", action="store_true", help="keeps the result")
    options = parser.parse_args()
    machine, pages, questions = Machine(), read_pages(), read_questions()
    if options.check and (wrong := list(check(pages, questions))):
        print("\n".join(wrong))
        return 1
    asked = [one for one in questions if options.part in {"all", one.part}]
    with opened(pages, questions) as library:
        runtime = library._runtime  # noqa: SLF001 - with a method of our own
        method = method_for(runtime, runtime.settings, None)
        methods = {WITHOUT: replace(method, neighbours=None), WITH: method}
        marks = {
            label: {one.id: found(one, pages, library, own) for one in asked}
            for label, own in methods.items()
        }
    if options.marks:
        lines = (
            json.dumps({"id": one.id, **{label: own[one.id] for label, own in marks.items()}})
            for one in asked
        )
        options.marks.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    rows: list[Row] = []
    bars = []
    for part in ("open", "test"):
        if own := [one.id for one in asked if one.part == part]:
            shares = [_percent([all(of[name]) for name in own]) for of in marks.values()]
            rows.append((part, len(own), *shares))
            gain = round(shares[1] - shares[0], 1)
            bars.append(Bar(f"{part} half: points gained", gain, least=10.0))
    title = f"All evidence in the first {FIRST} passages, percent"
    table = Table(title, ("half", "questions", *marks), tuple(rows))
    heading = "Questions of two steps over a bridge"
    return finish("bridges", heading, bars, [table], machine.setting(), write=options.write)


def _percent(marks: Sequence[bool]) -> float:
    return round(100 * sum(marks) / len(marks), 1)


if __name__ == "__main__":
    raise SystemExit(main())
