"""Whether fresh bundles pass every check, and forged ones none.

    python benchmarks/bundles.py [FOLDER …]

Fresh bundles come from the open natural folders, half of each on one shelf and half on another:
answers without a model, questions of another folder, which are mostly refused, answers that a
scripted model writes below which documents are quoted, and the minutes of a council of two. Of
each kind every fourth bundle is then forged in every way, once as it is and once with a new
checksum.
"""

import asyncio
import json
import sys
from collections import Counter as Tally
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from bundle_forgeries import FORGERIES, Forgery, forged
from chapterhouse.agents.ask import ask
from chapterhouse.agents.council import Council
from chapterhouse.answering.bundle import (
    ANSWER,
    bundle_json,
    examine,
    file_text,
    read_bundle,
)
from chapterhouse.answering.request import AskOptions
from chapterhouse.council.meeting.session import MeetingOptions
from chapterhouse.council.minutes.bundle import MINUTES
from chapterhouse.errors import UsageError
from chapterhouse.library import Library
from chapterhouse.models.scripted import ScriptedModel
from chapterhouse.types import Answer, Minutes
from data_folder import data_folder
from measuring import Bar, Machine, Table, finish

sys.path.append(str(Path(__file__).parent / "natural"))
from folders import PARTS, lay_out

QUESTIONS: Final = Path(__file__).parent / "natural" / "questions"
SHELVES: Final = ("one", "two")
FOREIGN: Final = 8  # questions of another folder
WRITTEN: Final = 32  # questions that a model answers
MEETINGS: Final = 4
SAMPLE: Final = 4  # every so manieth bundle is forged
TOLD: Final = 10  # bundles named of those that fail


def main() -> int:
    machine = Machine()
    fresh, bad = Tally[str](), list[str]()
    tried, missed = Tally[tuple[str, bool]](), Tally[tuple[str, bool]]()
    chosen = sys.argv[1:]
    for folder in chosen or (name for name, part in PARTS.items() if part == "open"):
        with _library(folder) as library:
            for kind, held in _made(folder, library):
                text = bundle_json(_facet(held, library).bundle(held))
                fresh[kind] += 1
                if not _is_trusted(text, held):
                    bad.append(f"{folder}, {kind}, {held.question}")
                    print(bad[-1], flush=True)
                if fresh[kind] % SAMPLE == 0:
                    for forgery, resealed in ((one, seal) for one in FORGERIES for seal in (0, 1)):
                        _forge(text, held, library, forgery, bool(resealed), tried, missed)
        print(folder, sum(fresh.values()), len(bad), sum(tried.values()), sum(missed.values()))
    names = [forgery.name for forgery in FORGERIES]
    bars = (
        Bar("fresh bundles", sum(fresh.values()), least=500),
        Bar("fresh bundles called bad", len(bad), most=0),
        Bar("ways to forge, each tried", sum(tried[name, False] > 0 for name in names), least=8),
        Bar("forged bundles not called bad", sum(missed.values()), most=0),
    )
    tables = (
        Table("Fresh bundles", ("kind", "bundles"), tuple(sorted(fresh.items()))),
        Table(
            "Forged bundles",
            (
                "what was changed",
                "tried",
                "missed",
                "with a new checksum",
                "missed",
            ),
            tuple(
                (name, *(count[name, seal] for seal in (False, True) for count in (tried, missed)))
                for name in names
            ),
            "Without the documents, but for “a sentence with its quotation and hash”: with a new "
            "checksum nothing in the file shows that, and it is looked up in the library.",
        ),
    )
    notes = tuple(f"Called bad: {name}" for name in bad[:TOLD])
    heading = "Bundles, fresh and forged"
    return finish("bundles", heading, bars, tables, machine.setting(), notes, write=not chosen)


@contextmanager
def _library(folder: str) -> Iterator[Library]:
    """Open a library of a folder on two shelves, gone in the end."""
    with TemporaryDirectory(prefix="bundles-") as place:
        root = Path(place)
        laid = lay_out(folder, data_folder(), root / "laid")
        files = sorted(path for path in laid.rglob("*") if path.is_file())
        with Library.open(root / "home") as library:
            for number, shelf in enumerate(SHELVES):
                for path in files[number :: len(SHELVES)]:
                    target = root / shelf / path.relative_to(laid)
                    target.parent.mkdir(parents=True, exist_ok=True)
                    path.rename(target)
                library.documents.add(root / shelf, shelf=shelf)
            library.encoders.embed_pending()
            yield library


def _asked(folder: str) -> list[dict[str, Any]]:
    lines = (QUESTIONS / f"{folder}.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def _made(folder: str, library: Library) -> Iterator[tuple[str, Answer | Minutes]]:
    """Yield fresh answers and minutes of every kind, each with its kind."""
    records, names = _asked(folder), list(PARTS)
    foreign = _asked(names[(names.index(folder) + 1) % len(names)])[:FOREIGN]
    for record in (*records, *foreign):
        question = record["question"]
        answer = library.answers.ask(question, model="none", remember=False, use_cache=False)
        rows = any(citation.header for citation in answer.citations)
        quoted = "quoted, with rows of tables" if rows else "quoted"
        yield quoted if answer.found else "refused", answer
    stated = [record for record in records if "true_statement" in record]
    for record in stated[:WRITTEN]:
        yield "written by a model, quoted below", _written(library, record)
    for record in records[:MEETINGS]:
        yield (
            "minutes",
            library.councils.convene(
                _council(), record["question"], options=MeetingOptions("none", remember=False)
            ),
        )


def _written(library: Library, record: dict[str, Any]) -> Answer:
    """Return what a model writes that cites nothing, above the passages that come closest."""
    text = f"{record['true_statement']} {record['false_statement']}"
    model = ScriptedModel(lambda _instructions, _prompt: text)
    expansion = library.settings.expansion.model_copy(update={"rewrite": "never"})
    settings = library.settings.model_copy(update={"expansion": expansion})
    own = library._runtime  # noqa: SLF001 - with a model of our own
    runtime = replace(own, settings=settings, language_model=lambda _: model)
    choices = AskOptions(remember=False, use_cache=False)
    return asyncio.run(ask(record["question"], "", choices, runtime))


def _council() -> Council:
    council = Council.new("two")
    for shelf in SHELVES:
        council = council.add_member(
            name=f"Reader {shelf}", instructions="Say what your documents say.", shelves=[shelf]
        )
    return council.add_round("independent_analysis")


def _facet(held: Answer | Minutes, library: Library) -> Any:
    return library.councils if isinstance(held, Minutes) else library.answers


def _is_trusted(text: str, held: Answer | Minutes, library: Library | None = None) -> bool:
    """Whether a bundle passes every check, and, with a library, its quotations stand there."""
    try:
        kind: Any = MINUTES if isinstance(held, Minutes) else ANSWER
        bundle = read_bundle(text, kind)
    except UsageError:
        return False
    if not all(check.passed for check in examine(bundle)):
        return False
    found = _facet(held, library).recheck(bundle.held) if library else ()
    return all(one.holds for one in found)


def _forge(
    text: str,
    held: Answer | Minutes,
    library: Library,
    forgery: Forgery,
    resealed: bool,  # noqa: FBT001
    tried: Tally[tuple[str, bool]],
    missed: Tally[tuple[str, bool]],
) -> None:
    made = forged(json.loads(text), forgery, resealed=resealed)
    if made is None:
        return
    tried[forgery.name, resealed] += 1
    looked_up = library if forgery.needs_library and resealed else None
    if _is_trusted(file_text(made), held, looked_up):
        missed[forgery.name, resealed] += 1
        print("missed:", forgery.name, resealed, held.question, flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
