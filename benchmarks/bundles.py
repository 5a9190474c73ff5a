"""Whether fresh bundles pass every check, and forged ones none.

    python benchmarks/bundles.py [FOLDER …]

Fresh bundles come from the open natural folders, half of each on one shelf and half on another:
answers without a model, questions of another folder, which are mostly refused, answers that a
scripted model writes (the true and the false statement of the question, sentences of the excerpts
as they are, with another figure, halved, joined, rows of tables), and the minutes of a council of
two, without a model and with one. Of each kind every fourth bundle is then forged in every way,
once as it is and once with a new seal.
"""

import asyncio
import json
import re
import sys
from collections import Counter as Tally
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from bundle_forgeries import FORGERIES, SEAL, Forgery, forged
from chapterhouse.agents.ask import ask
from chapterhouse.agents.council import Council
from chapterhouse.answering.bundle import bundle_json, examine, read_bundle
from chapterhouse.answering.checksum import file_text
from chapterhouse.answering.request import AskOptions
from chapterhouse.council.meeting.convene import convene
from chapterhouse.council.meeting.session import MeetingOptions
from chapterhouse.council.minutes.bundle import (
    examine_minutes,
    minutes_bundle_json,
    read_minutes_bundle,
)
from chapterhouse.errors import UsageError
from chapterhouse.library import Library
from chapterhouse.models.scripted import ScriptedModel
from chapterhouse.types import Answer, Check, Minutes
from data_folder import data_folder
from measuring import Bar, Machine, Table, finish

sys.path.append(str(Path(__file__).parent / "natural"))
from folders import PARTS, lay_out

QUESTIONS: Final = Path(__file__).parent / "natural" / "questions"
SHELVES: Final = ("one", "two")
FOREIGN: Final = 8  # questions of another folder
WRITTEN: Final = 32  # questions that a model answers
MEETINGS: Final = 4  # of each kind
SAMPLE: Final = 4  # every so manieth bundle is forged
ROUNDS: Final = ("independent_analysis", "cross_examination", "rebuttal", "synthesis")
BLOCK: Final = re.compile(r"^(\[\d+\]) [^\n]*\n((?:(?![\[<])[^\n]*\n)+)", re.MULTILINE)
SENTENCE: Final = re.compile(r"[^\n|.!?]{30,300}[.!?](?=\s|$)")
ROW: Final = re.compile(r"^\|.*[^\W_].*\|$", re.MULTILINE)
TOLD: Final = 10  # bundles named of those that fail


def main() -> int:
    machine = Machine()
    fresh, bad = Tally[str](), list[str]()
    tried, missed = Tally[tuple[str, bool]](), Tally[tuple[str, bool]]()
    chosen = sys.argv[1:]
    for folder in chosen or (name for name, part in PARTS.items() if part == "open"):
        with _library(folder) as library:
            for kind, held in _made(folder, library):
                text = _json(library, held)
                fresh[kind] += 1
                failed = [check for check in _checks(text) if not check.passed]
                if failed:
                    bad.append(f"{folder}, {kind}, {held.question}: {failed[0].sentence}")
                    print(bad[-1], flush=True)
                if fresh[kind] % SAMPLE == 0:
                    _forge(text, library, tried, missed)
        print(folder, sum(fresh.values()), len(bad), sum(tried.values()), sum(missed.values()))
    return _written(machine, fresh, bad, tried, missed, whole=not chosen)


# --- libraries ---------------------------------------------------------------------------------


class _library:  # noqa: N801 - used as the function that it would be
    """A library of a folder on two shelves, gone in the end."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._place = TemporaryDirectory(prefix="bundles-")

    def __enter__(self) -> Library:
        root = Path(self._place.name)
        laid = lay_out(self._folder, data_folder(), root / "laid")
        files = sorted(path for path in laid.rglob("*") if path.is_file())
        self._library = Library.open(root / "home")
        for number, shelf in enumerate(SHELVES):
            for path in files[number :: len(SHELVES)]:
                target = root / shelf / path.relative_to(laid)
                target.parent.mkdir(parents=True, exist_ok=True)
                path.rename(target)
            self._library.documents.add(root / shelf, shelf=shelf)
        self._library.encoders.embed_pending()
        return self._library

    def __exit__(self, *_: object) -> None:
        self._library.close()
        self._place.cleanup()


def _asked(folder: str) -> list[dict[str, Any]]:
    lines = (QUESTIONS / f"{folder}.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def _made(folder: str, library: Library) -> Iterator[tuple[str, Answer | Minutes]]:
    """Yield fresh answers and minutes of every kind, each with its kind."""
    records = _asked(folder)
    for record in records:
        yield _answered(library, record["question"])
        if "second" in record:
            yield _answered(library, record["second"]["standalone"])
    names = list(PARTS)
    other = names[(names.index(folder) + 1) % len(names)]
    for record in _asked(other)[:FOREIGN]:
        yield _answered(library, record["question"])
    stated = [record for record in records if "true_statement" in record]
    for record in stated[:WRITTEN]:
        yield "written by a model", _answer(library, record)
    for record in records[:MEETINGS]:
        yield "minutes without a model", _minutes(library, record, with_model=False)
        yield "minutes with a model", _minutes(library, record, with_model=True)


def _answered(library: Library, question: str) -> tuple[str, Answer]:
    answer = library.answers.ask(question, model="none", remember=False, use_cache=False)
    if not answer.found:
        return "refused", answer
    rows = any(citation.header for citation in answer.citations)
    return "quoted, with rows of tables" if rows else "quoted", answer


def _answer(library: Library, record: Mapping[str, Any]) -> Answer:
    model = _model([record["true_statement"], record["false_statement"]])
    expansion = library.settings.expansion.model_copy(update={"rewrite": "never"})
    settings = library.settings.model_copy(update={"expansion": expansion})
    own = library._runtime  # noqa: SLF001 - with a model of our own
    runtime = replace(own, settings=settings, language_model=lambda _: model)
    choices = AskOptions(remember=False, use_cache=False)
    return asyncio.run(ask(record["question"], "", choices, runtime))


def _minutes(library: Library, record: Mapping[str, Any], *, with_model: bool) -> Minutes:
    model = _model([record.get("true_statement", "")], spoken=True) if with_model else None
    own = library._runtime  # noqa: SLF001 - with a model of our own
    runtime = replace(own, language_model=lambda _: model)
    council = Council.new("two")
    for shelf in SHELVES:
        council = council.add_member(
            name=f"Reader {shelf}", instructions="Say what your documents say.", shelves=[shelf]
        )
    for entry in ROUNDS:
        council = council.add_round(entry)
    council = council.chair(name="Chair", instructions="Preside.")
    return asyncio.run(
        convene(council, record["question"], MeetingOptions(remember=False), runtime)
    )


# --- what a model writes -----------------------------------------------------------------------


def _model(statements: Sequence[str], *, spoken: bool = False) -> ScriptedModel:
    """Return a model that writes statements, and what the excerpts say, rightly and wrongly."""

    def script(_instructions: str, prompt: str) -> str:
        blocks = BLOCK.findall(prompt)[:4]
        written = [line for number, one in enumerate(blocks) for line in _lines(number, *one)]
        if blocks:
            written += [f"{text}{blocks[0][0]}" for text in statements if text]
        if not spoken:
            return "\n".join(written)
        if "You preside." in _instructions:
            return json.dumps({"decision": written[:1], "grounds": written[1:4]})
        replies = [
            {"claim": name, "stance": "supports", "reason": " ".join(written[:2])}
            for name in re.findall(r"^(c\d+), by ", prompt, re.MULTILINE)
        ]
        none: dict[str, object] = {"missing": [], "open_questions": [], "position": ""}
        return json.dumps({**none, "claims": written[:6], "replies": replies})

    return ScriptedModel(script)


def _lines(number: int, marker: str, block: str) -> Iterator[str]:
    """Yield sentences about an excerpt: as it says, halved, joined, with another figure."""
    text = block.replace("¦ ", "").replace("¦", "|")
    found = [" ".join(sentence.split()) for sentence in SENTENCE.findall(text)[:4]]
    if found:
        yield f"{found[0]}{marker}"
        words = found[-1].split()
        yield f"{' '.join(words[: 2 * len(words) // 3])}.{marker}"
        yield re.sub(r"\d", "7", found[-1]) + marker
    if len(found) > 1:
        yield f"{found[0].rstrip('.!?')} and {found[1][:1].lower()}{found[1][1:]}{marker}"
        yield f"According to document {number}, {found[1]}{marker}"
    for row in ROW.findall(text)[2:4]:
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        yield f"{': '.join(filter(None, cells))}.{marker}"


# --- checking and forging ----------------------------------------------------------------------


def _json(library: Library, held: Answer | Minutes) -> str:
    if isinstance(held, Minutes):
        return minutes_bundle_json(library.councils.bundle(held))
    return bundle_json(library.answers.bundle(held))


def _checks(text: str) -> tuple[Check, ...]:
    if '"minutes": {' in text and '"format": "chapterhouse-minutes' in text:
        return examine_minutes(read_minutes_bundle(text))
    return examine(read_bundle(text))


def _is_trusted(text: str, library: Library | None = None) -> bool:
    """Whether a bundle passes every check, and, with a library, its quotations stand there."""
    try:
        if not all(check.passed for check in _checks(text)):
            return False
    except UsageError:
        return False
    if library is None:
        return True
    if "minutes" in json.loads(text):
        found = library.councils.recheck(read_minutes_bundle(text).minutes)
    else:
        found = library.answers.recheck(read_bundle(text).answer)
    return all(one.holds for one in found)


def _forge(
    text: str,
    library: Library,
    tried: Tally[tuple[str, bool]],
    missed: Tally[tuple[str, bool]],
) -> None:
    fields = json.loads(text)
    for forgery, resealed in _forgeries():
        made = forged(fields, forgery, resealed=resealed)
        if made is None:
            continue
        tried[forgery.name, resealed] += 1
        looked_up = library if forgery.needs_library and resealed else None
        if _is_trusted(file_text(made), looked_up):
            missed[forgery.name, resealed] += 1
            print("missed:", forgery.name, resealed, fields.get("format"), flush=True)


def _forgeries() -> Iterator[tuple[Forgery, bool]]:
    yield SEAL, False
    for forgery in FORGERIES:
        yield forgery, False
        yield forgery, True


# --- the result --------------------------------------------------------------------------------


def _written(
    machine: Machine,
    fresh: Tally[str],
    bad: Sequence[str],
    tried: Tally[tuple[str, bool]],
    missed: Tally[tuple[str, bool]],
    *,
    whole: bool,
) -> int:
    names = [SEAL.name, *(forgery.name for forgery in FORGERIES)]
    rows = tuple(
        (
            name,
            tried[name, False],
            tried[name, False] - missed[name, False],
            tried[name, True],
            tried[name, True] - missed[name, True],
        )
        for name in names
    )
    bars = (
        Bar("fresh bundles", sum(fresh.values()), least=500),
        Bar("fresh bundles called bad", len(bad), most=0),
        Bar("ways to forge, each tried at least once", sum(row[1] > 0 for row in rows), least=10),
        Bar("forged bundles not called bad", sum(missed.values()), most=0),
    )
    tables = (
        Table("Fresh bundles", ("kind", "bundles"), tuple(sorted(fresh.items()))),
        Table(
            "Forged bundles",
            ("what was changed", "tried", "called bad", "with a new seal", "called bad"),
            rows,
            "Without the documents, but for “a sentence with its quotation and hash”: with a new "
            "seal nothing in the file shows that, and it is looked up in the library.",
        ),
    )
    notes = tuple(f"Called bad: {name}" for name in bad[:TOLD])
    return finish(
        "bundles", "Bundles, fresh and forged", bars, tables, machine.setting(), notes, write=whole
    )


if __name__ == "__main__":
    raise SystemExit(main())
