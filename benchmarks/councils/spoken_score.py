"""What a debate makes of models that speak truly, or lie, in their own words.

    python benchmarks/councils/spoken_score.py [--part open|test|all] [--write]

``spoken.json`` was written by a reader of the documents who had not seen the program: for members
of eight councils true statements in other words than the documents', false ones that look as
plausible, and true ones of documents that a newer version of the same member replaces. Scripted
models say them, citing the block of the prompt that holds the quoted sentence where there is one;
a true statement on another question of the council is said too, to see whether it becomes a
ground. The chair repeats as grounds whatever was claimed.
"""

import argparse
import asyncio
import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1]))

from council_cases import HERE, Gold, councils, make_library

from chapterhouse import Library
from chapterhouse.agents.council import Council
from chapterhouse.council.meeting.convene import convene
from chapterhouse.council.meeting.session import MeetingOptions
from chapterhouse.models.scripted import ScriptedModel
from chapterhouse.runtime import Runtime
from chapterhouse.types import FOUND, Minutes, Support
from measuring import Bar, Machine, Row, Table, finish
from plain_text import comparable

SAID = HERE / "spoken.json"
ROUNDS = ("independent_analysis", "cross_examination", "rebuttal", "synthesis")
_BLOCK = re.compile(r"^(\[\d+\]) \w+(?: [^\n]*)?\n((?:(?!\[)[^\n]*\n)*)", re.MULTILINE)
_CLAIM = re.compile(
    r"^c\d+, by [^\n]*?(?:resting on ((?:\[\d+\])+))?[^\n]*\n¦ ([^\n]*)", re.MULTILINE
)
_EDGE = 40  # letters of a quotation that are looked for where it is cut
Spoken = Mapping[str, Any]


@dataclass
class Tally:
    """What was counted of one council.

    Attributes:
        true, false, outdated: How far statements are said to be carried.
        grounds: Kinds of the statements that became grounds.
        lost: Statements that are not in the minutes.
    """

    true: Counter[Support] = field(default_factory=Counter)
    false: Counter[Support] = field(default_factory=Counter)
    outdated: Counter[Support] = field(default_factory=Counter)
    grounds: Counter[str] = field(default_factory=Counter)
    lost: int = 0
    seen: Counter[bool] = field(default_factory=Counter)
    seen_found: int = 0
    lies: list[str] = field(default_factory=list)


def sayings(entry: Spoken, other: Spoken | None, *, honest: bool) -> dict[str, list[Spoken]]:
    """Return what each member says, each with its kind."""
    said: dict[str, list[Spoken]] = {}
    for member, spoken in entry["members"].items():
        kinds = ("true", "outdated") if honest else ("false",)
        own: list[Spoken] = [
            {**one, "kind": kind} for kind in kinds for one in spoken.get(kind, ())
        ]
        if honest and other and member in other["members"]:
            own += [{**one, "kind": "beside"} for one in other["members"][member]["true"][:1]]
        said[member] = own
    return said


def marker(prompt: str, quote: str) -> str:
    """Return the marker of the block that holds a quotation, or its beginning; else nothing."""
    wanted = comparable(quote)
    for part in (wanted, wanted[:_EDGE], wanted[-_EDGE:]):
        for name, text in _BLOCK.findall(prompt):
            if part in comparable(text):
                return str(name)
    return ""


def speaker(
    said: Mapping[str, Sequence[Spoken]], tally: Tally, shown: dict[str, bool]
) -> Callable[[str, str], str]:
    """Return a model that says these in the first round, and as the chair repeats everything."""

    def write(instructions: str, prompt: str) -> str:
        if "You preside" in instructions:
            quotes = {comparable(o["text"]): o["quote"] for own in said.values() for o in own}
            stated = [
                {"text": f"{text}{cited}", "quotation": quotes.get(comparable(text), "")}
                for cited, text in _CLAIM.findall(prompt)
            ]
            return json.dumps({"decision": stated[:1], "grounds": stated}, ensure_ascii=False)
        if "Analyse the question" not in instructions:
            return json.dumps({"position": "", "claims": [], "replies": [], "concessions": []})
        member = instructions.partition("You are ")[2].partition(".\n")[0]
        claims = []
        for one in said.get(member, ()):
            cited = marker(prompt, one["quote"])
            if one["kind"] == "true":
                tally.seen[bool(cited)] += 1
                shown[comparable(one["text"])] = bool(cited)
            claims.append({"text": f"{one['text']}{cited}", "quotation": one["quote"]})
        return json.dumps({"position": "", "claims": claims}, ensure_ascii=False)

    return write


def with_model(library: Library, model: ScriptedModel) -> Runtime:
    """Return the library's parts with a model that everybody speaks by."""
    parts = library._runtime  # noqa: SLF001 - no settings name a scripted model
    return replace(parts, language_model=lambda _: model)


def made_of(council: Gold) -> Council:
    """Return the council with a chair."""
    made = Council.new(council["council"])
    for member in council["members"]:
        made = made.add_member(
            name=member["id"], shelves=(member["id"],), instructions="Read your documents."
        )
    for name in ROUNDS:
        made = made.add_round(name)
    return made.chair(name="Agnes Merrow", instructions="Sum up.")


def hold(council: Gold, entries: Sequence[Spoken], folder: Path) -> Tally:
    """Hold two meetings on each question, an honest and a lying one, and count."""
    tally = Tally()
    questions = {one["id"]: one["question"] for one in council["questions"]}
    with Library.open(make_library(council, folder)) as library:
        for place, entry in enumerate(entries):
            for honest in (True, False):
                said = sayings(entry, entries[place - 1], honest=honest)
                shown: dict[str, bool] = {}
                model = ScriptedModel(speaker(said, tally, shown))
                runtime = with_model(library, model)
                options = MeetingOptions(remember=False)
                asked = questions[entry["question"]]
                minutes = asyncio.run(convene(made_of(council), asked, options, runtime))
                count(tally, minutes, said, shown)
    return tally


def count(
    tally: Tally,
    minutes: Minutes,
    said: Mapping[str, Sequence[Spoken]],
    shown: Mapping[str, bool],
) -> None:
    """Count how what was said stands in the minutes."""
    by_text = {comparable(claim.text): claim for claim in minutes.claims}
    grounds = [comparable(point.text) for point in minutes.grounds]
    for one in (one for own in said.values() for one in own):
        text = comparable(one["text"])
        claim = by_text.get(text) or next((by_text[t] for t in by_text if t in text), None)
        if claim is None:
            tally.lost += 1
            continue
        kinds = {"true": tally.true, "false": tally.false, "outdated": tally.outdated}
        if one["kind"] in kinds:
            kinds[one["kind"]][claim.support] += 1
        if one["kind"] == "true" and shown.get(text):
            tally.seen_found += claim.support in FOUND
        is_ground = any(text in ground or ground in text for ground in grounds)
        tally.grounds[f"{one['kind']} {is_ground}"] += 1
        if one["kind"] == "false" and (is_ground or claim.support in FOUND):
            tally.lies.append(f"{one['text']} | {one['quote'][:160]} | {claim.support} {is_ground}")


def merged(tallies: Sequence[Tally]) -> Tally:
    """Return all together."""
    whole = Tally()
    for one in tallies:
        whole.true += one.true
        whole.false += one.false
        whole.outdated += one.outdated
        whole.grounds += one.grounds
        whole.lost += one.lost
        whole.seen += one.seen
        whole.seen_found += one.seen_found
        whole.lies += one.lies
    return whole


def figures(tally: Tally) -> dict[str, float]:
    """Return the figures, in percent and numbers."""
    true, false = tally.true.total(), tally.false.total()
    found = sum(tally.true[one] for one in FOUND)
    return {
        "true": true,
        "supported %": 100 * found / max(true, 1),
        "by rules %": 100 * (found - tally.true[Support.CITED]) / max(true, 1),
        "said to disagree %": 100 * tally.true[Support.DISAGREES] / max(true, 1),
        "true as grounds %": 100 * tally.grounds["true True"] / max(true, 1),
        "false": false,
        "false called supported": sum(tally.false[one] for one in FOUND),
        "false as grounds": tally.grounds["false True"],
        "outdated": tally.outdated.total(),
        "outdated as grounds": tally.grounds["outdated True"],
        "beside the point as grounds %": 100
        * tally.grounds["beside True"]
        / max(tally.grounds["beside True"] + tally.grounds["beside False"], 1),
        "not in the minutes": tally.lost,
        "true, its passage in the prompt": tally.seen[True],
        "supported of these %": 100 * tally.seen_found / max(tally.seen[True], 1),
    }


def main() -> int:
    """Measure and print."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    arguments.add_argument("--part", choices=("open", "test", "all"), default="open")
    arguments.add_argument("--write", action="store_true", help="write the results")
    arguments.add_argument("--lies", action="store_true", help="print lies that were believed")
    given = arguments.parse_args()
    machine = Machine()
    spoken = json.loads(SAID.read_text("utf-8"))
    held: dict[str, dict[str, Tally]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for council in councils(given.part):
            name = council["council"]
            entries = [one for one in spoken if one["council"] == name]
            if entries:
                held.setdefault(council["part"], {})[name] = hold(council, entries, Path(folder))
    bars, tables = [], []
    for part, named in held.items():
        whole = merged(list(named.values()))
        bars += list(_bars(part, figures(whole)))
        rows: list[Row] = [(name, *figures(tally).values()) for name, tally in named.items()]
        rows.append(("all", *figures(whole).values()))
        tables.append(Table(f"Councils, {part}", ("council", *figures(whole)), tuple(rows)))
        if given.lies:
            print(*whole.lies, sep="\n")
    title = "What a debate makes of true and false speakers"
    return finish("spoken", title, bars, tables, machine.setting(), write=given.write)


def _bars(part: str, known: Mapping[str, float]) -> Iterator[Bar]:
    yield Bar(f"true statements called supported, {part}", known["supported %"], least=75)
    yield Bar(f"false values as grounds, {part}", known["false as grounds"], most=0)
    yield Bar(f"outdated statements as grounds, {part}", known["outdated as grounds"], most=0)
    yield Bar(f"statements not in the minutes, {part}", known["not in the minutes"], most=0)


if __name__ == "__main__":
    sys.exit(main())
