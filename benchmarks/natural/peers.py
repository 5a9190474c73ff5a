"""Ours beside what people would use, on the natural folders and the same reading of them.

    python benchmarks/natural/peers.py [FOLDER ...] [--part open|test|all]
        [--encoder MODEL_FOLDER] [--write]

The others get the text of every document as our readers made it, with its title in front, so that
reading is not what is compared; they cut and rank it at their defaults in ``.venv-peers`` (``make
peers-setup``). Those that need vectors get them from one encoder, made here by the product's own
engine for model folders; without ``--encoder`` they are left out. A hit of any system is shown
with the title of its document. Facts are looked for in each one's first 3 and 8 hits, and at equal
words: in as many words as our own first 3 and 8 hits have for that question.
"""

import argparse
import json
import subprocess
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.append(str(Path(__file__).parents[1]))  # for the modules that all benchmarks share

import numpy as np

from chapterhouse.library import Library
from chapterhouse.types.engines import Embedder
from folders import PARTS
from libraries import label_of, opened, search, with_embedder
from marking import HITS, Passage, first_words, has_facts, share
from measuring import Bar, Machine, Row, Table, finish
from peers_systems import read_lines, write_lines
from questions import Question, read_questions
from score import chosen_folders

HERE = Path(__file__).parent
PYTHON = HERE.parents[1] / ".venv-peers" / "bin" / "python"
SPLITTERS = ("langchain", "llama_index", "haystack")
LANGUAGES = {"guides-fr": "French", "web": "German"}  # the others are English
OURS = "Chapterhouse"
LEXICAL = ("bm25s", "LanceDB")


@dataclass(frozen=True, slots=True)
class Found:
    """Whether a system found the facts of a question, in its hits and at equal words."""

    folder: str
    system: str
    hits: tuple[bool, bool]
    words: tuple[bool, bool]


def compare(
    question: Question, rankings: Mapping[str, Sequence[Passage]], measure: str
) -> list[Found]:
    """Return what each system found; ``measure`` names the one whose words all others get."""
    words = [
        sum(len(passage.shown.split()) for passage in rankings[measure][:count]) for count in HITS
    ]
    made = []
    for system, passages in rankings.items():
        texts = [passage.shown for passage in passages]
        few, many = ("\n".join(texts[:count]) for count in HITS)
        cut = [has_facts(first_words(texts, count), question.facts) for count in words]
        hits = (has_facts(few, question.facts), has_facts(many, question.facts))
        made.append(Found(question.folder, system, hits, (cut[0], cut[1])))
    return made


def measure_folder(name: str, choices: Sequence[str], encoder: str | None) -> list[Found]:
    """Return what every system found in one folder, ours first: one row for each embedder."""
    questions = [question for question in read_questions(name) if question.answerable]
    ours: dict[str, list[list[Passage]]] = {}
    with TemporaryDirectory(prefix="peers-") as place:
        folder = Path(place)
        for choice in choices:
            with opened(name, choice) as library:
                found = [search(library, question.question) for question in questions]
                ours[f"{OURS}, {label_of(choice)}"] = found
                if choice == choices[0]:
                    titles = write_documents(library, folder)
        write_lines(folder / "questions.jsonl", [question.question for question in questions])
        split(folder)
        if encoder:
            with with_embedder(encoder) as embedder:
                write_vectors(folder, embedder)
        run_peers("rank", folder, LANGUAGES.get(name, "English"))
        theirs = read_rankings(folder, titles)
    return [
        found
        for number, question in enumerate(questions)
        for found in compare(
            question,
            {system: ranked[number] for system, ranked in (ours | theirs).items()},
            next(iter(ours)),
        )
    ]


def write_documents(library: Library, folder: Path) -> dict[str, str]:
    """Write every document for the others; return their titles by id."""
    titles = {document.id: document.title for document in library.documents.list()}
    rows = [
        {"document": name, "text": titled(title, library.documents.body(name).text)}
        for name, title in titles.items()
    ]
    write_lines(folder / "documents.jsonl", rows)
    return titles


def titled(title: str, text: str) -> str:
    """Return a text with its title in front, unless it begins with it."""
    opening = text[: len(title) + 10].lstrip("# \n")
    return text if opening.startswith(title) else f"{title}\n\n{text}"


def split(folder: Path) -> None:
    """Cut the documents with every splitter."""
    recursive = import_module("langchain_text_splitters").RecursiveCharacterTextSplitter
    splitter = recursive(chunk_size=1_000, chunk_overlap=200)
    rows = [
        {"document": each["document"], "text": text}
        for each in read_lines(folder / "documents.jsonl")
        for text in splitter.split_text(each["text"])
    ]
    write_lines(folder / "langchain.jsonl", rows)
    run_peers("split", folder)


def write_vectors(folder: Path, embedder: Embedder) -> None:
    """Write the vectors of all chunks and questions."""
    for splitter in SPLITTERS:
        texts = [each["text"] for each in read_lines(folder / f"{splitter}.jsonl")]
        np.save(folder / f"{splitter}.npy", embedder.embed_passages(texts))
    asked = [embedder.embed_question(text) for text in read_lines(folder / "questions.jsonl")]
    np.save(folder / "questions.npy", np.stack(asked))


def run_peers(step: str, folder: Path, *more: str) -> None:
    """Run a step of ``peers_systems.py`` in its environment.

    Raises:
        SystemExit: the environment is not there, or the step failed, with its last lines.
    """
    if not PYTHON.exists():
        raise SystemExit("no .venv-peers: make it with make peers-setup")
    command = [str(PYTHON), str(HERE / "peers_systems.py"), step, str(folder), *more]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"peers_systems.py {step} failed:\n{done.stderr[-2_000:]}")


def read_rankings(folder: Path, titles: Mapping[str, str]) -> dict[str, list[list[Passage]]]:
    """Return the passages of every system for every question, with their titles."""
    chunks = {name: read_lines(folder / f"{name}.jsonl") for name in SPLITTERS}
    ranked = json.loads((folder / "rankings.json").read_text("utf-8"))
    return {
        f"{system} {made['version']}": [
            [
                Passage(chunk["document"], f"{titles[chunk['document']]}\n{chunk['text']}")
                for chunk in (chunks[made["splitter"]][at] for at in ranking)
            ]
            for ranking in made["rankings"]
        ]
        for system, made in ranked.items()
    }


def table(title: str, found: Sequence[Found]) -> Table:
    """Return a table of all systems over the folders of what was found."""
    rows: list[Row] = []
    for system in dict.fromkeys(each.system for each in found):
        own = [each for each in found if each.system == system]
        shares = [str(share([each.words[at] for each in own])) for at in (0, 1)]
        shares += [str(share([each.hits[at] for each in own])) for at in (0, 1)]
        rows.append((system, len(own), *shares))
    columns = ("system", "questions", "words of our 3", "words of our 8", "in its 3", "in its 8")
    return Table(title, columns, tuple(rows))


def bars(found: Sequence[Found]) -> Iterator[Bar]:
    """Yield how far ours is ahead of each other at equal words, in points.

    A system that has vectors is compared with ours with the same encoder where that was measured.
    """
    systems = list(dict.fromkeys(each.system for each in found))
    ours = [system for system in systems if system.startswith(OURS)]
    for system in systems[len(ours) :]:
        mine = ours[0] if system.startswith(LEXICAL) else ours[-1]
        for place, count in enumerate(HITS):
            ahead = words_share(found, mine, place) - words_share(found, system, place)
            what = f"{mine} ahead of {system}, words of our {count}"
            yield Bar(what, 100 * ahead, least=5)


def words_share(found: Sequence[Found], system: str, place: int) -> float:
    """Return the share of questions whose facts a system has at equal words."""
    return share([each.words[place] for each in found if each.system == system]).value


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*")
    parser.add_argument("--part", choices=("open", "test", "all"), default="open")
    parser.add_argument("--encoder", help="a model's folder, for ours and theirs")
    parser.add_argument("--write", action="store_true", help="keep the result")
    chosen = parser.parse_args()
    if chosen.write and (chosen.folders or chosen.part == "open"):
        parser.error("--write keeps results of whole parts: add --part test or all, name no folder")
    warnings.simplefilter("ignore")
    machine = Machine()
    choices = ["built-in", *([chosen.encoder] if chosen.encoder else [])]
    found: list[Found] = []
    for name in chosen_folders(chosen.folders, chosen.part):
        found += measure_folder(name, choices, chosen.encoder)
        print(f"{name} done", flush=True)
    parts = {
        part: [each for each in found if PARTS[each.folder] == part] for part in ("open", "test")
    }
    tables = [table(f"{part.title()} folders", own) for part, own in parts.items() if own]
    names = dict.fromkeys(each.folder for each in found)
    tables += [table(name, [each for each in found if each.folder == name]) for name in names]
    return finish(
        "natural_peers",
        "Natural questions, beside other retrievers",
        list(bars(parts["test"])),
        tables,
        machine.setting("langchain-text-splitters"),
        (NOTE,),
        write=chosen.write,
    )


NOTE = (
    "Facts in percent with 95 % intervals by resampling the questions, over answerable ones. At "
    f"equal words: each system's ranking is cut at the words that the first hits of {OURS}, "
    "built-in, have for that question. All read the same texts; every hit is shown with its "
    "document's title. LangChain: RecursiveCharacterTextSplitter, 1,000 characters, 200 shared. "
    "LlamaIndex: SentenceSplitter, 1,024 tokens, 200 shared. Haystack: DocumentSplitter, 200 "
    "words. Chroma, LlamaIndex and Haystack rank by the encoder's vectors; it reads at most 256 "
    "tokens of a chunk where it is all-MiniLM-L6-v2. bm25s and LanceDB get the stemmer of the "
    "folder's language."
)


if __name__ == "__main__":
    sys.exit(main())
