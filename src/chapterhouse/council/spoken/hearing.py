"""Reads what a model gave in a round, however it wrote it down.

Models keep to a form only more or less, and weak ones less. Whatever can be told is taken as it was
meant; where nothing was in the form, the prose is taken for what it states.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from chapterhouse.council.spoken.spoken import (
    MOST_CLAIMS,
    MOST_REMARKS,
    MOST_REPLIES,
    MOST_VERDICTS,
    SpokenConcession,
    SpokenDissent,
    SpokenGap,
    SpokenReply,
    SpokenSynthesis,
    SpokenTurn,
    SpokenVerdict,
)
from chapterhouse.council.spoken.wordings import leaning_of, stance_of
from chapterhouse.text.loose_json import LONGEST, Found, objects_in
from chapterhouse.text.sanitise import sanitise, sanitise_line

Spoken = TypeVar("Spoken", SpokenTurn, SpokenSynthesis)
Values = Mapping[str, object]  # by name in lower case, letters only

UNDECIDED: Final = "undecided"  # how an option is called that is none
_NOT_THE_FORM: Final = (
    "It did not answer in the form that was asked for; its text was taken as it is."
)
_NOTHING_TAKEN: Final = (
    "It did not answer in the form that was asked for, and its text states nothing outside another."
)
_CUT_OFF: Final = "What it wrote is cut off; what stands before that was taken."
_TURN: Final = (
    "position",
    "option",
    "claims",
    "replies",
    "concessions",
    "missing",
    "openquestions",
)
_SYNTHESIS: Final = (
    "decided",
    "decision",
    "grounds",
    "dissent",
    "openquestions",
    "missing",
    "matrix",
)
_WORDED: Final = ("text", "claim", "statement", "sentence", "content", "reason", "question")
_NESTED: Final = 4  # levels below an object at which the one that is meant may lie
_LOOKED_AT: Final = 200  # values on the way there
_FEW: Final = 4  # words
_NOTHING: Final = frozenset({"none", "nothing", "n/a", "no", "null", "-"})  # instead of no entry
_CLAIM_ID: Final = re.compile(
    r"(?<![^\W_])c(?:laim)?[ #:_-]{0,2}0{0,6}(\d{1,6})(?!\d)", re.IGNORECASE
)
_FENCE: Final = re.compile(r"^[ \t]*(?:```|~~~)[^\n]*$", re.MULTILINE)
_PARAGRAPHS: Final = re.compile(r"\n[ \t]*\n|\n(?=[ \t]*(?:[-*•]|\d{1,3}[.)])[ \t])")
# Where a line begins an object or a list of values; "[1] It leaves" and "[^a:1]" are prose.
_OTHER_FORM: Final = re.compile(r"^[ \t]*(?:\{|\[[ \t]*(?:[{\[\"\]]|$))", re.MULTILINE)
_BULLET: Final = re.compile(r"^\s*(?:[-*•]|\d{1,3}[.)])\s+")
_HEADING: Final = re.compile(r"^\s*#{1,6}\s")


@dataclass(frozen=True, slots=True)
class Unread(Generic[Spoken]):
    """A model's text in which no object of the form stands.

    Attributes:
        instead: What its prose states, for when asking again gives no more.
    """

    instead: Spoken


def read_turn(text: str, options: Sequence[str] = ()) -> SpokenTurn | Unread[SpokenTurn]:
    """Return what a member said, from a model's text.

    Args:
        text: As the model wrote it. Only the first 200,000 characters are looked at.
        options: What is to be decided between; another choice is none.
    """
    found = _meant(text, _TURN)
    if found is None:
        stated = _paragraphs(text)
        return Unread(SpokenTurn(claims=stated, warning=_unread(stated)))
    values = found[0]
    return SpokenTurn(
        position=_words(values.get("position")),
        option=_option(values.get("option"), options),
        claims=_lines(values.get("claims"), MOST_CLAIMS),
        replies=tuple(_replies(values.get("replies"))),
        concessions=tuple(_concessions(values.get("concessions"))),
        missing=_lines(values.get("missing"), MOST_REMARKS),
        open_questions=_lines(values.get("openquestions"), MOST_REMARKS),
        warning="" if found[1] else _CUT_OFF,
    )


def read_synthesis(
    text: str, options: Sequence[str] = ()
) -> SpokenSynthesis | Unread[SpokenSynthesis]:
    """Return how the chair sums up, from a model's text; arguments as ``read_turn``."""
    found = _meant(text, _SYNTHESIS)
    if found is None:
        stated = _paragraphs(text)
        return Unread(SpokenSynthesis(decision=stated, warning=_unread(stated)))
    values = found[0]
    return SpokenSynthesis(
        decided=_option(values.get("decided"), options),
        decision=_lines(values.get("decision"), MOST_CLAIMS),
        grounds=_lines(values.get("grounds"), MOST_CLAIMS),
        dissent=tuple(
            SpokenDissent(member=member, text=words)
            for member, words in _by_member(values.get("dissent"), MOST_CLAIMS)
        ),
        open_questions=_lines(values.get("openquestions"), MOST_REMARKS),
        missing=tuple(
            SpokenGap(member=member, text=words)
            for member, words in _by_member(values.get("missing"), MOST_CLAIMS)
        ),
        matrix=tuple(_verdicts(values.get("matrix"), options)),
        warning="" if found[1] else _CUT_OFF,
    )


def claim_ids(value: object) -> tuple[str, ...]:
    """Return the ids of claims that stand in what a model wrote, such as ``c3`` for "[C3]"."""
    if isinstance(value, list):
        return tuple(
            dict.fromkeys(name for entry in value[:_LOOKED_AT] for name in claim_ids(entry))
        )
    written = sanitise_line(str(value))[:400] if isinstance(value, (str, int)) else ""
    if written.isascii() and written.isdecimal():
        return (f"c{int(written)}",)
    return tuple(dict.fromkeys(f"c{int(number)}" for number in _CLAIM_ID.findall(written)))


def _meant(text: str, names: Sequence[str]) -> tuple[Values, bool] | None:
    """Return the object with most of the names, and whether it had an end."""
    best: tuple[Values, bool] | None = None
    most = 0
    for found in objects_in(sanitise(text[:LONGEST]).text):
        for value in _objects(found):
            values = _named(value, names)
            if len(values) > most:
                best, most = (values, found.whole), len(values)
    return best


def _objects(found: Found) -> Iterator[Mapping[object, object]]:
    """Yield an object and those within it, outermost first, a few levels deep."""
    level: list[object] = [found.value]
    for _ in range(_NESTED):
        below: list[object] = []
        for value in level[:_LOOKED_AT]:
            if isinstance(value, Mapping):
                yield value
                below += value.values()
            elif isinstance(value, list):
                below += value
        level = below


def _named(value: Mapping[object, object], names: Sequence[str]) -> Values:
    """Return the entries that have one of the names, in whatever spelling."""
    spelt = {name.rstrip("s"): name for name in names}
    values: dict[str, object] = {}
    for key, entry in value.items():
        letters = "".join(filter(str.isalpha, str(key)[:100].casefold()))
        name = spelt.get(letters.rstrip("s"))
        if name:
            values.setdefault(name, entry)
    return values


def _words(value: object) -> str:
    """Return the words of an entry that should be a text."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(filter(None, map(_words, value[:_LOOKED_AT])))
    if isinstance(value, Mapping):
        words = next((value[key] for key in _WORDED if isinstance(value.get(key), str)), "")
        cited = value.get("citations") or value.get("sources") or ()
        return f"{words}{_markers(cited)}" if words else ""
    return ""


def _markers(cited: object) -> str:
    """Return the markers of citations that a model wrote apart from its sentence."""
    names = [cited] if isinstance(cited, str) else cited
    if not isinstance(names, (list, tuple)):
        return ""
    written = [name.strip("[]^ ") for name in names[:_LOOKED_AT] if isinstance(name, str)]
    return "".join(f" [^{name}]" for name in written if ":" in name and "]" not in name)


def _lines(value: object, most: int) -> tuple[str, ...]:
    """Return the texts of an entry that should be a list of them."""
    entries = value if isinstance(value, list) else [value]
    words = (_BULLET.sub("", _words(entry)).strip() for entry in entries)
    return tuple(line for line in words if _says_something(line))[:most]


def _says_something(line: str) -> bool:
    words = sanitise_line(line).casefold().strip(" .")
    return words not in _NOTHING and any(map(str.isalnum, words))


def _entries(value: object, key: str) -> Iterator[Mapping[object, object]]:
    """Yield the objects of an entry that should be a list of them.

    Also read are one alone, and an object whose names are what should stand under ``key``.
    """
    if isinstance(value, Mapping):
        if key in value:
            yield value
        else:
            for name, entry in value.items():
                if isinstance(entry, Mapping):
                    yield {key: name, **entry}
                else:
                    yield {key: name, "text": _words(entry)}
    elif isinstance(value, list):
        for entry in value:
            if isinstance(entry, Mapping):
                yield entry
            elif isinstance(entry, str):
                yield {key: entry, "text": entry}


def _first(entry: Mapping[object, object], *names: str) -> str:
    found = map(entry.get, names)
    return next((value for value in found if isinstance(value, str)), "")


def _leading(words: str) -> str:
    """Return the words before a colon or comma that say for what the rest is the reason."""
    leading = re.split(r"[:,.;–—]", words[:100], maxsplit=1)[0]
    return leading if len(leading.split()) <= _FEW else ""


def _replies(value: object) -> Iterator[SpokenReply]:
    said = 0
    for entry in _entries(value, "claim"):
        reason = _first(entry, "reason", "text", "why", "because", "comment", "reply")
        stance = stance_of(
            _first(entry, "stance", "position", "verdict", "view") or _leading(reason)
        )
        for claim in claim_ids(entry.get("claim") or entry.get("claim_id") or entry.get("id")):
            if said == MOST_REPLIES:
                return
            said += 1
            yield SpokenReply(claim=claim, stance=stance, reason=reason + _cited_in(entry))


def _concessions(value: object) -> Iterator[SpokenConcession]:
    said = 0
    for entry in _entries(value, "claim"):
        reason = _first(entry, "reason", "text", "why", "because", "comment")
        to = claim_ids(entry.get("to") or entry.get("to_claim"))[:1]
        for claim in claim_ids(entry.get("claim") or entry.get("claim_id") or entry.get("id")):
            if said == MOST_CLAIMS:
                return
            said += 1
            reasoned = reason + _cited_in(entry)
            yield SpokenConcession(claim=claim, to=to[0] if to else "", reason=reasoned)


def _cited_in(entry: Mapping[object, object]) -> str:
    return _markers(entry.get("citations") or entry.get("sources") or ())


def _by_member(value: object, most: int) -> list[tuple[str, str]]:
    """Return members with what is said of them; bare texts are nobody's."""
    if isinstance(value, str):
        return [("", value)] if _says_something(value) else []
    found: list[tuple[str, str]] = []
    for entry in _entries(value, "member"):
        words = _words(entry)
        member = _first(entry, "member", "who", "shelf")
        if _says_something(words):
            found.append(("" if member == words else member, words))
    return found[:most]


def _verdicts(value: object, options: Sequence[str]) -> Iterator[SpokenVerdict]:
    """Yield the cells of a matrix; one by option and member, ``{option: {member: …}}``, too."""
    said = 0
    for entry in _cells(value):
        option, member = _option(entry.get("option"), options), _first(entry, "member", "who")
        if not (option and member):
            continue
        words = _first(entry, "text", "reason", "why")
        leaning = leaning_of(
            _first(entry, "leaning", "stance", "verdict", "view") or _leading(words)
        )
        yield SpokenVerdict(option=option, member=member, leaning=leaning, text=words)
        said += 1
        if said == MOST_VERDICTS:
            return


def _cells(value: object) -> Iterator[Mapping[object, object]]:
    if isinstance(value, list):
        yield from (entry for entry in value if isinstance(entry, Mapping))
    elif isinstance(value, Mapping):
        for option, row in value.items():
            for entry in _entries(row, "member"):
                yield {"option": option, **entry}


def _option(value: object, options: Sequence[str]) -> str:
    """Return an option as the council spells it; empty for none of them."""
    written = _folded(_words(value))
    return next((option for option in options if _folded(option) == written), "")


def _folded(option: str) -> str:
    return sanitise_line(option).casefold().strip(" .\"'“”")


def _paragraphs(text: str) -> tuple[str, ...]:
    """Return what a text without any form states: its paragraphs and the entries of its lists.

    From where another form begins, such as JSON with other names, nothing is stated.
    """
    prose = _FENCE.sub("", sanitise(text[:LONGEST]).text)
    form = _OTHER_FORM.search(prose)
    prose = prose[: form.start()] if form else prose
    found = (_BULLET.sub("", part).strip() for part in _PARAGRAPHS.split(prose))
    return tuple(part for part in found if part and not _HEADING.match(part))[:MOST_CLAIMS]


def _unread(stated: Sequence[str]) -> str:
    return _NOT_THE_FORM if stated else _NOTHING_TAKEN
