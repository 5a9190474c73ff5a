"""Shelves of agreements that say how long confidentiality lasts, each otherwise."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from chapterhouse.agents.council import Council
from chapterhouse.types import Minutes

if TYPE_CHECKING:
    from tests.council.conftest import Hall

ASKED = "How long should confidentiality last?"
AGREEMENT = """---
title: Mutual Non-Disclosure Agreement of {party}
date: {date}
---

# Mutual Non-Disclosure Agreement

This agreement is made between {party} and the Recipient.

## Confidential information

The Recipient shall hold all Confidential Information in strict confidence.

## Term

The obligations of confidentiality shall continue for {term} from the date of disclosure.

## Governing law

This agreement is governed by the laws of England.
"""
TERMS = {"alder": "five years", "birch": "two (2) years", "cedar": "eighteen months"}
BELLS = "# Bells\n\nThe bells of the church ring at noon every day.\n"


def agreement(party: str, term: str, date: str = "2024-01-01") -> str:
    return AGREEMENT.format(party=party, term=term, date=date)


def shelve(hall: "Hall", shelves: Mapping[str, Mapping[str, str]]) -> None:
    """Lay documents on shelves of the library, by shelf and name."""
    for shelf, texts in shelves.items():
        folder = hall.folder / f"papers-{shelf}"
        folder.mkdir()
        for name, text in texts.items():
            (folder / name).write_text(text, "utf-8")
        hall.library.documents.add(folder, shelf=shelf)


def readers(*shelves: str, options: tuple[str, ...] = ()) -> Council:
    """Return a council of roles that each read a shelf of their own."""
    made = Council.new("readers")
    for shelf in shelves:
        made = made.add_member(name=shelf, shelves=(shelf,), instructions="Read your documents.")
    for entry in ("independent_analysis", "cross_examination", "rebuttal"):
        made = made.add_round(entry)
    return made.decide_between(*options)


def read(hall: "Hall", shelves: Mapping[str, Mapping[str, str]], question: str) -> Minutes:
    """Return what documents say on a question, each shelf read by a member."""
    shelve(hall, shelves)
    return hall.convene(readers(*shelves), question)
