"""What a forger does to a bundle: each forgery changes one thing in a bundle's JSON.

A forgery that finds nothing to change in a bundle returns False. Whatever else can be changed is
in the tables of the tests.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final

from chapterhouse.answering.bundle import checksum_of
from chapterhouse.answering.cite import text_hash
from chapterhouse.types import EXTRACTIVE, QUOTED

Fields = dict[str, Any]
_WORD: Final = re.compile(r"[^\W\d_]{4,}")
_FIGURE: Final = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class Forgery:
    """One way to forge a bundle.

    Attributes:
        change: Changes the fields; says whether there was anything to change.
        needs_library: Whether a new seal hides it until the documents are looked up.
    """

    name: str
    change: Callable[[Fields], bool]
    needs_library: bool = False


def forged(fields: Mapping[str, Any], forgery: Forgery, *, resealed: bool) -> Fields | None:
    """Return forged fields, None where there is nothing to forge."""
    made = deepcopy(dict(fields))
    if not forgery.change(made) or made == fields:
        return None
    if resealed:
        made["checksum"] = checksum_of(made)
    return made


def _held(fields: Mapping[str, Any]) -> Fields:
    found: Fields = fields["answer"] if "answer" in fields else fields["minutes"]
    return found


def _sentences(fields: Fields) -> Iterator[Fields]:
    """Yield the sentences of an answer that pass for quotations; a model's are its own."""
    held = _held(fields)
    for one in held.get("sentences", ()):
        is_quoted = held["method"] == EXTRACTIVE or one["note"].startswith(QUOTED)
        if is_quoted and one["citations"]:
            yield one


def _citations(fields: Fields) -> list[Fields]:
    found: list[Fields] = _held(fields)["citations"]
    return found


def _in_a_sentence(change: Callable[[str], str]) -> Callable[[Fields], bool]:
    def made(fields: Fields) -> bool:
        for one in _sentences(fields):
            text = change(one["text"])
            if text != one["text"]:
                one["text"] = text
                return True
        return False

    return made


def _other_figure(text: str) -> str:
    return _FIGURE.sub(lambda match: str((int(match.group()) + 3) % 10), text, count=1)


def _denied(text: str) -> str:
    first, space, rest = text.partition(" ")
    return f"{first} not{space}{rest}" if space else text


def _half(text: str) -> str:
    if " · " in text:  # a row may leave out columns
        return text
    words = text.split()
    return " ".join(words[: len(words) // 2]) or text


def _quotation(fields: Fields) -> bool:
    """Change a quotation that a sentence rests on, and its hash."""
    known = {one["number"]: one for one in _citations(fields)}
    for sentence in _sentences(fields):
        cited = known[sentence["citations"][0]]
        quote = _WORD.sub(lambda match: "x" * len(match.group()), cited["quote"], count=1)
        if quote != cited["quote"]:
            cited["quote"] = quote
            fields["quotes"][str(cited["number"])] = text_hash(quote)
            return True
    return False


def _sentence_and_quotation(fields: Fields) -> bool:
    """Change a sentence and its quotation alike, and the hash: nothing in the file shows it."""
    known = {one["number"]: one for one in _citations(fields)}
    for sentence in _sentences(fields):
        every = [known[number] for number in sentence["citations"]]
        words = set(_WORD.findall(sentence["text"])) & set(_WORD.findall(every[0]["quote"]))
        words -= {word for one in every for word in _WORD.findall(one.get("header") or "")}
        for word in sorted(words):
            before, after = re.compile(rf"\b{word}\b"), "x" * len(word)
            sentence["text"] = before.sub(after, sentence["text"])
            for cited in every:
                cited["quote"] = before.sub(after, cited["quote"])
                fields["quotes"][str(cited["number"])] = text_hash(cited["quote"])
            return True
    return False


def _swapped(fields: Fields) -> bool:
    """Swap the citations of two sentences that quote different texts."""
    quotes = {one["number"]: one["quote"] for one in _citations(fields)}
    found = list(_sentences(fields))
    for one in found:
        for other in found:
            own, foreign = ({quotes[n] for n in s["citations"]} for s in (one, other))
            apart = own.isdisjoint(foreign) and one["text"] != other["text"]
            if apart and not any(a in b or b in a for a in own for b in foreign):
                one["citations"], other["citations"] = other["citations"], one["citations"]
                return True
    return False


def _header(fields: Fields) -> bool:
    """Change the heading row under which a sentence shows its quotation."""
    known = {one["number"]: one for one in _citations(fields)}
    for sentence in _sentences(fields):
        cited = known[sentence["citations"][0]]
        for word in _WORD.findall(cited["header"]):
            is_shown = re.search(rf"\b{word}[^\n·:]*: ", sentence["text"].partition(" · ")[0])
            if is_shown and word not in cited["quote"]:
                cited["header"] = cited["header"].replace(word, "x" * len(word))
                return True
    return False


def _sources(fields: Fields) -> bool:
    found, fields["sources"] = fields["sources"], []
    return bool(found) and bool(_citations(fields))


FORGERIES: Final = (
    Forgery("a figure of a sentence", _in_a_sentence(_other_figure)),
    Forgery("a sentence denied", _in_a_sentence(_denied)),
    Forgery("half of a sentence", _in_a_sentence(_half)),
    Forgery("a quotation with its hash", _quotation),
    Forgery("a sentence with its quotation and hash", _sentence_and_quotation, needs_library=True),
    Forgery("swapped citations", _swapped),
    Forgery("the heading of a column", _header),
    Forgery("no sources", _sources),
)
