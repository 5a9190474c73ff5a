"""Prompts: what share of their tokens is text of documents.

    python benchmarks/prompts.py [--part open|test|all] [--write]

Each question of the natural folders is put with the settings as shipped to a model that notes what
it is told and finds no answer: to the library, and to a persona who has curated the same folder, so
that front matter and key terms stand above each of her documents. Tokens are those of the whole
prompt, the system message included, by the product's estimate; source text is what stands under the
line of a source, without the marks that the view puts in front of some lines.
"""

import argparse
import asyncio
import re
import statistics
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

sys.path.append(str(Path(__file__).parent / "natural"))

from chapterhouse import Library
from chapterhouse.agents.ask import ask
from chapterhouse.answering.request import AskOptions
from chapterhouse.models.scripted import ScriptedModel
from chapterhouse.text.counting import estimate_tokens
from folders import PARTS
from libraries import opened
from measuring import Bar, Machine, Row, Table, finish
from questions import read_questions

BAR: Final = 0.85
LIBRARY: Final = "library"
PERSONA: Final = "persona"
READER: Final = "reader"  # slug of the persona
ABOVE: Final = re.compile(r"^(?:extracted_via: |\*\*Key Terms\*\*)", re.MULTILINE)  # no source text
SOURCE: Final = re.compile(r"^\[\d+\] [a-z]{6}(?: [^\n]*)?\n((?:(?!\[)[^\n]*\n?)*)", re.MULTILINE)
MARKED: Final = re.compile(r"^¦ (?=[^:\n]{0,24}:)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Prompt:
    """Tokens of a prompt: all, the system message's, those of source text, and its sources."""

    tokens: int
    system: int
    text: int
    sources: int

    @property
    def share(self) -> float:
        """Share of source text."""
        return self.text / self.tokens


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--part", choices=("open", "test", "all"), default="open")
    parser.add_argument("--folder", action="append", help="only these folders")
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    machine = Machine()
    rows: dict[str, list[Row]] = {LIBRARY: [], PERSONA: []}
    found: dict[str, list[Prompt]] = {LIBRARY: [], PERSONA: []}
    for folder, part in PARTS.items():
        if (chosen.folder and folder not in chosen.folder) or chosen.part not in {part, "all"}:
            continue
        with opened(folder, "built-in") as library:
            for who in (LIBRARY, PERSONA):
                if who == PERSONA:
                    documents = library.home.parent / "documents"
                    library.personas.create(READER, folders=[str(documents)])
                prompts = list(told(library, folder, READER if who == PERSONA else ""))
                found[who] += prompts
                rows[who].append(row(folder, prompts))
                print(who, rows[who][-1], flush=True)
    for who, prompts in found.items():
        rows[who].append(row("all", prompts))
    return finish(
        "prompts",
        "What a prompt is made of",
        [
            Bar(f"share of a prompt's tokens that is source text, {who}", overall(own), least=BAR)
            for who, own in found.items()
        ],
        [
            Table(
                f"By folder, {who}",
                (
                    "folder",
                    "prompts",
                    "tokens",
                    "system message",
                    "sources",
                    "around a source",
                    "source text",
                    "least",
                ),
                tuple(rows[who]),
                "Means but for the last: the share in the leanest prompt. Around a source is all "
                "that is neither source text nor the system message, by source, the question too.",
            )
            for who in rows
        ],
        machine.setting(),
        write=chosen.write,
    )


def told(library: Library, folder: str, persona: str) -> Iterator[Prompt]:
    """Yield what is told for each question of a folder that has hits."""
    model = ScriptedModel(lambda *_: "The documents do not say.")
    never = library.settings.expansion.model_copy(update={"rewrite": "never"})  # no prompt for that
    settings = library.settings.model_copy(update={"expansion": never})
    own = library._runtime  # noqa: SLF001 - with a model of our own
    runtime = replace(own, settings=settings, language_model=lambda _: model)
    for question in read_questions(folder):
        model.asked.clear()
        choices = AskOptions(remember=False, use_cache=False)
        asyncio.run(ask(question.question, persona, choices, runtime))
        for instructions, message in model.asked:
            assert not ABOVE.search(message), message
            texts = [MARKED.sub("", text).strip("\n") for text in SOURCE.findall(message)]
            yield Prompt(
                estimate_tokens(f"{instructions}\n{message}"),
                estimate_tokens(instructions),
                sum(map(estimate_tokens, texts)),
                len(texts),
            )


def row(name: str, prompts: list[Prompt]) -> Row:
    """Return the means of some prompts."""
    around = sum(p.tokens - p.system - p.text for p in prompts) / sum(p.sources for p in prompts)
    return (
        name,
        len(prompts),
        round(statistics.fmean(p.tokens for p in prompts)),
        round(statistics.fmean(p.system for p in prompts)),
        round(statistics.fmean(p.sources for p in prompts), 1),
        round(around, 1),
        round(overall(prompts), 3),
        round(min(p.share for p in prompts), 3),
    )


def overall(prompts: list[Prompt]) -> float:
    """Return the share of source text in all prompts together."""
    return sum(p.text for p in prompts) / sum(p.tokens for p in prompts)


if __name__ == "__main__":
    raise SystemExit(main())
