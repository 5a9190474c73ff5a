"""Second turns of conversations: is what they ask for found, with what was spoken of before?

    python benchmarks/natural/turns.py [--part open|test|all] [--write]

Each second turn of the natural questions is put after its first turn, without a model and with one
that rewrites it as the collection does. The next question of a folder, which begins another
subject, is put after the one before it, too: it should be left as it is. Rules were chosen on the
open folders.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from json import dumps
from pathlib import Path
from unittest.mock import patch

sys.path.append(str(Path(__file__).parents[1]))  # for the modules that all benchmarks share

from chapterhouse.library import Library
from chapterhouse.models.opening import LanguageModels
from chapterhouse.models.scripted import ScriptedModel
from chapterhouse.types import FollowUp, Turn
from folders import PARTS
from libraries import opened, search
from marking import Passage, has_facts, in_first
from measuring import Bar, Machine, Table, finish
from plain_text import comparable
from questions import FollowUp as Second
from questions import Question, read_questions
from vector_cache import vectors_cached

_HITS = 3
_RUN = 5  # words that two texts must share in a row
_MOST_OF_IT = 0.5  # of a quotation, which may reach over the border of two passages
LEAST = {"without a model": 0.75, "rewritten": 0.9}
WAYS = ("as typed", "without a model", "rewritten")


@dataclass(frozen=True, slots=True)
class Mark:
    """What became of a second turn: its quotation and its facts in the first three hits, shown."""

    quoted: bool
    facts: bool
    shown: bool


@dataclass(frozen=True, slots=True)
class Alone:
    """What became of a question on another subject: its facts in the hits, before and after."""

    carried: bool
    before: bool
    after: bool


def follow_up(
    library: Library, first: str, second: str, rewriting: str = "", *, certain: bool = True
) -> FollowUp:
    """Complete a second turn as the product does; with a rewriting a model says that."""
    model = ScriptedModel([dumps({"question": rewriting})]) if rewriting else None
    with patch.object(LanguageModels, "named", lambda *_: model):
        return library.answers.follow_up(second, [Turn(first)], certain=certain)


def mark_turn(library: Library, second: Second, made: FollowUp) -> Mark:
    """Search and ask a completed second turn."""
    found = search(library, made.search_text or made.question)[:_HITS]
    answer = library.answers.ask(
        made.question, search_text=made.search_text, model="none", remember=False, use_cache=False
    )
    told = "\n".join(sentence.text for sentence in answer.sentences)
    return Mark(
        all(_is_quoted(one.quote, one.document, found) for one in second.evidence),
        in_first(found, _HITS, second.facts),
        has_facts(told, second.facts),
    )


def mark_turns(library: Library, question: Question) -> dict[str, Mark]:
    """Return what becomes of a question's second turn in each way of putting it."""
    second = question.second
    if second is None:
        return {}
    complete: Callable[[str], FollowUp] = lambda text: follow_up(  # noqa: E731 - twice below
        library, question.question, second.question, text
    )
    made = (FollowUp(second.question, second.question), complete(""), complete(second.standalone))
    return {way: mark_turn(library, second, one) for way, one in zip(WAYS, made, strict=True)}


def mark_alone(library: Library, before: Question, question: Question) -> Alone:
    """Put a question after another that has nothing to do with it, as a chat does."""
    made = follow_up(library, before.question, question.question, certain=False)
    texts = (question.question, made.search_text or made.question)
    found = [in_first(search(library, text), _HITS, question.facts) for text in texts]
    return Alone(bool(made.method), *found)


def _is_quoted(quote: str, document: str, found: Sequence[Passage]) -> bool:
    """Whether one of the passages of a document has most of a quotation."""
    words = comparable(quote).split()
    runs = [" ".join(words[n : n + _RUN]) for n in range(max(len(words) - _RUN + 1, 1))]
    texts = [comparable(one.shown) for one in found if one.document == document]
    return any(sum(run in text for run in runs) >= _MOST_OF_IT * len(runs) for text in texts)


def measure(folder: str) -> tuple[list[dict[str, Mark]], list[Alone]]:
    """Mark all turns of a folder, and all its questions on another subject."""
    questions = read_questions(folder)
    pairs = [
        (one, other)
        for one, other in pairwise(questions)
        if other.answerable and not set(one.documents) & set(other.documents)
    ]
    with opened(folder, "built-in") as library:
        turns = [mark_turns(library, one) for one in questions if one.second]
        alone = [mark_alone(library, one, other) for one, other in pairs]
    print(f"{folder}: {len(turns)} second turns, {len(alone)} new subjects", flush=True)
    return turns, alone


def percent(values: Sequence[bool]) -> float:
    """Return a share in percent."""
    return round(100 * sum(values) / max(len(values), 1), 1)


def turn_table(marks: Sequence[dict[str, Mark]], part: str) -> Table:
    """Return how second turns do, a row for each way of putting them."""
    rows = tuple(
        (
            way,
            percent([one[way].quoted for one in marks]),
            percent([one[way].facts for one in marks]),
            percent([one[way].shown for one in marks]),
        )
        for way in WAYS
    )
    title = f"{len(marks)} second turns of the {part} folders"
    return Table(title, ("second turn", "quotation in 3 hits", "facts in 3 hits", "shown"), rows)


def alone_table(alone: Sequence[Alone], part: str) -> Table:
    """Return what becomes of questions that begin another subject."""
    figures = ([one.carried for one in alone], [one.before for one in alone])
    row = (*map(percent, figures), percent([one.after for one in alone]))
    title = f"{len(alone)} questions on another subject, {part} folders"
    columns = ("taken for a second turn", "facts in 3 hits, alone", "in a chat")
    return Table(title, columns, (row,))


NOTE = (
    "In percent. Quotation: the passage that holds most of the words quoted as evidence is among "
    "the first three hits; facts: all facts of the second turn are in the first three hits; shown: "
    "they are on the first screen of an answer without a model. As typed: the second turn by "
    "itself, the lower bound. Without a model: the words of the first turn carried over. "
    "Rewritten: a model writes the collection's own wording as a whole question."
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", choices=("open", "test", "all"), default="open")
    parser.add_argument("--write", action="store_true", help="keep the result")
    chosen = parser.parse_args()
    machine = Machine()
    tables, bars = [], []
    with vectors_cached():
        for part in ("open", "test"):
            if chosen.part not in {part, "all"}:
                continue
            found = [measure(folder) for folder, own in PARTS.items() if own == part]
            marks = [one for turns, _ in found for one in turns]
            tables += [turn_table(marks, part), alone_table([a for _, b in found for a in b], part)]
            bars += [
                Bar(
                    f"{part}: facts in 3 hits, {way}",
                    percent([one[way].facts for one in marks]) / 100,
                    least=least,
                )
                for way, least in LEAST.items()
            ]
    setting = machine.setting()
    return finish(
        "natural_turns", "Second turns", bars, tables, setting, (NOTE,), write=chosen.write
    )


if __name__ == "__main__":
    sys.exit(main())
