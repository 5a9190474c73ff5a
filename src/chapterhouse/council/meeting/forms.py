"""The forms in which models answer in a meeting: what they are asked for, and what is parsed.

Models keep to a form only more or less, and weak ones less. Names in other spellings, one entry
instead of a list, an object instead of a list: whatever can be told is taken as it was meant, and
what is no form at all is a position as it stands. Everything is bounded, and no string holds what
nobody can see.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

from chapterhouse.agents.council_model import RoundKind
from chapterhouse.text.loose_json import LONGEST, objects_in
from chapterhouse.text.sanitise import sanitise, sanitise_line
from chapterhouse.types import (
    Gap,
    Ground,
    MemberTurn,
    OutputFormat,
    Point,
    Reply,
    Stance,
    Statement,
)

UNDECIDED: Final = "undecided"  # how an option is called that is none
MOST_ENTRIES: Final = 24  # of a list
MOST_REPLIES: Final = 60
_LABEL_WORDS: Final = 5
_LONGEST_TEXT: Final = 20_000  # characters of a position
_LONGEST_LINE: Final = 2_000  # of anything else
_NESTED: Final = 4  # levels below an object at which the one that is meant may lie
_LOOKED_AT: Final = 200  # values of a list or an object
_PROSE: Final = "It did not answer in the form that was asked for; its text was taken as it is."
_CUT_OFF: Final = "What it wrote is cut off; what stands before that was taken."
_INTRODUCTION: Final = (
    "Answer with one JSON object of this shape and nothing else: no code fence, no text before or "
    "after it. Leave a list empty where you have nothing to say there.\n"
)

Entry = Mapping[str, object]
# Fields of an object: words for a text, those words in a list for a list of texts, and the form of
# its entries behind them for a list of objects.
Form = Mapping[str, Any]

_POSITION: Final[Form] = {
    "question": "the id of the thing asked, such as q1",
    "position": "your answer to it in your own words, at most 3 sentences",
    "label": "the same in at most 5 words",
    "grounds": ["at most 6 facts, each a sentence that ends with its marker, such as [1]"],
}
_REPLY: Final[Form] = {
    "statement": "the id of a statement, such as s3",
    "stance": "stand: you hold it; concede: you give way; oppose: not so",
    "reason": "why, in a sentence or two, with the markers of evidence",
}
_TURN: Final[Form] = {
    "positions": ["one for each thing asked; none where you hold nothing new", _POSITION],
    "replies": ["one for each statement shown", _REPLY],
    "option": "what you would choose now",
    "missing": ["evidence that you lack, a sentence each"],
    "open_questions": ["questions that stay open"],
}
_OF_MEMBER: Final[Form] = {
    "member": "the key of the member",
    "text": "a sentence with its markers",
}
_SUMMARY: Final[Form] = {
    "decided": "the option that the evidence speaks for",
    "decision": ["the answer, or why there is none: at most 4 sentences with markers"],
    "grounds": ["what it rests on: at most 8 sentences with markers"],
    "dissent": ["what is held against it, and by whom", _OF_MEMBER],
    "open_questions": ["questions that stay open"],
    "missing": ["evidence that nobody gave, and who would have to give it", _OF_MEMBER],
}


@dataclass(frozen=True, slots=True)
class Summary:
    """How the chair sums up; markers are as the model wrote them.

    Attributes:
        warning: How it had to be read, where not as it was written.
    """

    decided: str = ""
    decision: tuple[str, ...] = ()
    grounds: tuple[str, ...] = ()
    dissent: tuple[Point, ...] = ()
    open_questions: tuple[str, ...] = ()
    missing: tuple[Gap, ...] = ()
    warning: str = ""


# --- what is asked for --------------------------------------------------------------------------


def turn_format(
    kind: RoundKind, questions: int, statements: Sequence[str], options: Sequence[str]
) -> OutputFormat:
    """Return the form of a turn, as small as the round allows.

    ``statements`` are the ids of those that may be replied to.
    """
    ids = [f"q{number}" for number in range(1, questions + 1)]
    choices = {
        "question": ids if questions > 1 else [],
        "replies": list(statements),
        "statement": list(statements),
        "stance": [stance.value for stance in Stance],
        "option": _with_undecided(options),
    }
    return OutputFormat(kind.value, _schema(_TURN, choices))


def summary_format(options: Sequence[str], members: Sequence[str]) -> OutputFormat:
    """Return the form in which the chair sums up."""
    choices = {"decided": _with_undecided(options), "member": list(members)}
    return OutputFormat(RoundKind.SYNTHESIS.value, _schema(_SUMMARY, choices))


def _with_undecided(options: Sequence[str]) -> list[str]:
    return list(dict.fromkeys([*map(sanitise_line, options), UNDECIDED])) if options else []


def _schema(form: Form, choices: Mapping[str, list[str]]) -> dict[str, Any]:
    """Return the schema of a form without references, formats and optional parts.

    So every service takes it that can hold a model to a schema.

    Args:
        choices: Values that fields may have, by name; a field that may have none is left out.
    """
    properties: dict[str, Any] = {}
    for name, words in form.items():
        values = choices.get(name)
        if values == []:
            continue
        if isinstance(words, str):
            properties[name] = {"type": "string", "description": words}
            properties[name] |= {"enum": values} if values else {}
        else:
            items = _schema(words[1], choices) if words[1:] else {"type": "string"}
            properties[name] = {"type": "array", "description": words[0], "items": items}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def shape_in_words(form: OutputFormat) -> str:
    """Return what a system message says of a form: an example, with words for its values."""
    return _INTRODUCTION + _example(form.schema, "")


def _example(schema: Any, indent: str) -> str:
    deeper = f"{indent}  "
    if schema["type"] == "object":
        lines = [
            f"{deeper}{json.dumps(name)}: {_example(part, deeper)},{_remark(part)}\n"
            for name, part in schema["properties"].items()
        ]
        return f"{{\n{''.join(lines)}{indent}}}"
    if schema["type"] == "array":
        return f"[{_example(schema['items'], indent)}, …]"
    words = schema.get("description", "…")
    if "enum" in schema:
        words = f"{words}: one of {' | '.join(schema['enum'])}"
    return json.dumps(words, ensure_ascii=False)


def _remark(part: Mapping[str, Any]) -> str:
    return f"  // {part['description']}" if part["type"] == "array" else ""


# --- what is parsed -----------------------------------------------------------------------------

_OTHER_NAMES: Final[Mapping[str, tuple[str, ...]]] = {  # of fields, those that count first before
    "positions": ("answers", "statements", "claims"),
    "position": ("answer", "text", "claim", "statement", "content"),
    "question": ("thing", "aspect", "id"),
    "label": ("title", "summary"),
    "grounds": ("evidence", "facts", "because"),
    "statement": ("statement_id", "id", "claim"),
    "stance": ("position", "verdict", "view"),
    "reason": ("text", "why", "because", "comment", "reply"),
    "text": ("sentence", "statement", "position", "reason", "content", "claim", "question"),
    "member": ("who", "shelf", "name"),
    "decided": ("option", "choice"),
}
_STANCES: Final[Mapping[str, Stance]] = {
    word: stance
    for stance, words in {
        Stance.STAND: "stand hold keep support agree maintain confirm affirm accept",
        Stance.CONCEDE: "concede withdraw retract yield give",
        Stance.OPPOSE: "oppose contradict disagree reject dispute object refute deny against",
    }.items()
    for word in words.split()
}
_FILLERS: Final = frozenset(
    ["i", "we", "fully", "strongly", "with", "it", "this", "that", "by", "to", "up", "way"]
)
_NOTHING: Final = frozenset({"none", "nothing", "n/a", "no", "null", "-"})  # instead of no entry
_STATEMENT_ID: Final = re.compile(
    r"(?<![^\W_])s(?:tatement)?[ #:_-]{0,2}0{0,6}(\d{1,6})(?!\d)", re.IGNORECASE
)
_QUESTION_ID: Final = re.compile(r"\W*q?(?:uestion)?[ #:_-]{0,2}(\d{1,3})\W*", re.IGNORECASE)
_FENCE: Final = re.compile(r"^[ \t]*(?:```|~~~)[^\n]*$", re.MULTILINE)
_BULLET: Final = re.compile(r"^\s*(?:[-*•]|\d{1,3}[.)])\s+")


def read_turn(
    text: str, turn: MemberTurn, questions: Sequence[str] = (), options: Sequence[str] = ()
) -> MemberTurn:
    """Return the turn with what a member said, markers as the model wrote them.

    Args:
        text: As the model wrote it. Only the first 200,000 characters are looked at.
        questions: The things asked, in the order of their ids.
        options: What is to be decided between; another choice is none.
    """

    def state(position: str, label: str = "", question: str = "", *grounds: str) -> Statement:
        rests_on = tuple(map(Ground, grounds))
        return Statement("", turn.member, turn.round, position, label, question, grounds=rests_on)

    entry, warning = _best_object(text, _TURN)
    if entry is None:
        prose = _bounded(_FENCE.sub("", text))
        statements = (state(prose),) if _says_something(prose) else ()
        return replace(turn, statements=statements, warnings=(_PROSE,))
    fields = _by_field(entry, _TURN)
    stated = [state(*one) for one in _positions(fields.get("positions"), entry, questions)]
    replies = list[Reply]()
    for name, stance, reason in _replies(fields.get("replies")):
        if stance is None:  # what is said to a statement without a stance is not lost
            stated.append(state(reason))
        else:
            replies.append(Reply(turn.member, turn.round, name, stance, reason))
    return replace(
        turn,
        statements=tuple(stated[:MOST_ENTRIES]),
        replies=tuple(replies[:MOST_REPLIES]),
        option=_option(fields.get("option"), options),
        missing=_lines(fields.get("missing")),
        open_questions=_lines(fields.get("open_questions")),
        warnings=(warning,) if warning else (),
    )


def read_summary(text: str, options: Sequence[str] = ()) -> Summary:
    """Return how the chair sums up, from a model's text; arguments as of ``read_turn``."""
    entry, warning = _best_object(text, _SUMMARY)
    if entry is None:
        return Summary(decision=_lines(_bounded(_FENCE.sub("", text))), warning=_PROSE)
    fields = _by_field(entry, _SUMMARY)
    return Summary(
        decided=_option(fields.get("decided"), options),
        decision=_lines(fields.get("decision")),
        grounds=_lines(fields.get("grounds")),
        dissent=tuple(
            Point(text, members=(member,) if member else ())
            for member, text in _of_members(fields.get("dissent"))
        ),
        open_questions=_lines(fields.get("open_questions")),
        missing=tuple(Gap(member, "", text) for member, text in _of_members(fields.get("missing"))),
        warning=warning,
    )


def statement_ids(value: object) -> tuple[str, ...]:
    """Return the ids of statements in what a model wrote, such as ``s3`` for "[S3]"."""
    if isinstance(value, list):
        found = [name for entry in value[:_LOOKED_AT] for name in statement_ids(entry)]
        return tuple(dict.fromkeys(found))
    written = sanitise_line(str(value))[:400] if isinstance(value, (str, int)) else ""
    if written.isascii() and written.isdecimal():
        return (f"s{int(written)}",)
    return tuple(dict.fromkeys(f"s{int(number)}" for number in _STATEMENT_ID.findall(written)))


def _best_object(text: str, form: Form) -> tuple[Entry | None, str]:
    """Return the object that fits a form best, and a warning; None where a text has no object.

    An object of other names is taken for its words.
    """
    clean = sanitise(text[:LONGEST]).text
    best: tuple[int, Entry, bool] | None = None
    for found in objects_in(clean):
        for value in _objects(found.value):
            fit = len(_by_field(value, form))
            if best is None or fit > best[0]:
                best = fit, value, found.whole
    if best is None:
        return None, ""
    fit, entry, whole = best
    if not fit:
        words = "\n".join(_strings(entry))
        name = "positions" if form is _TURN else "decision"
        return {name: words}, _PROSE
    return entry, "" if whole else _CUT_OFF


def _objects(value: object) -> Iterator[Entry]:
    """Yield an object and those within it, outermost first, a few levels deep."""
    level = [value]
    for _ in range(_NESTED):
        below: list[object] = []
        for one in level[:_LOOKED_AT]:
            if isinstance(one, Mapping):
                yield one
                below += one.values()
            elif isinstance(one, list):
                below += one
        level = below


def _strings(value: object, *, shown: bool = True) -> Iterator[str]:
    """Yield all texts in a value; those of ``_SHOWN`` fields alone, unless all are ``shown``."""
    if isinstance(value, str) and shown:
        yield value
    elif isinstance(value, list):
        for one in value[:_LOOKED_AT]:
            yield from _strings(one, shown=shown)
    elif isinstance(value, Mapping):
        for name, one in list(value.items())[:_LOOKED_AT]:
            yield from _strings(one, shown=shown or name in _SHOWN)


def _by_field(entry: Entry, form: Form) -> dict[str, object]:
    """Return the values of an object by the fields of a form, in whatever spelling or number."""
    spelt = {_letters(str(key)): value for key, value in reversed(list(entry.items()))}
    found: dict[str, object] = {}
    for name in form:
        names = map(_letters, (name, *_OTHER_NAMES.get(name, ())))
        written = [spelt[one] for one in names if one in spelt]
        if written:
            found[name] = next(filter(None, written), written[0])
    return found


def _letters(name: str) -> str:
    return "".join(filter(str.isalpha, name[:100].casefold())).rstrip("s")


def _entries(value: object, key: str, form: Form) -> Iterator[Entry]:
    """Yield the objects of what should be a list of them.

    Also read are one alone, bare texts, and an object whose names are what should stand under
    ``key``.
    """
    if isinstance(value, Mapping) and not _by_field(value, form):
        for name, entry in list(value.items())[:_LOOKED_AT]:
            own = entry if isinstance(entry, Mapping) else {"text": _words(entry)}
            yield {key: name, **own}
        return
    for entry in value[:_LOOKED_AT] if isinstance(value, list) else [value]:
        if isinstance(entry, Mapping):
            yield entry
        elif isinstance(entry, str):
            yield {"text": entry}


def _positions(value: object, whole: Entry, questions: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield positions, each with its label, the thing asked, and its grounds."""
    if isinstance(value, str):  # one alone, whose other fields stand beside it
        value = {**_by_field(whole, _POSITION), "position": value}
    for entry in _entries(value, "question", _POSITION):
        fields = _by_field(entry, _POSITION)
        position = _bounded(_words(fields.get("position")) + _markers(entry))
        label = " ".join(_line(fields.get("label")).split()[:_LABEL_WORDS])
        grounds = _lines(fields.get("grounds"))
        if not _says_something(position):
            position, grounds = (label, grounds) if label else ("\n".join(grounds), ())
        if _says_something(position):
            yield position, label, _question(fields.get("question"), questions), *grounds


def _replies(value: object) -> Iterator[tuple[str, Stance | None, str]]:
    """Yield the id, stance and reason of each reply; only a reason where the rest is not told."""
    if isinstance(value, Mapping) and not {"statement", "id"} & set(map(_letters, map(str, value))):
        value = [
            {"statement": name, **(one if isinstance(one, Mapping) else {"stance": _words(one)})}
            for name, one in list(value.items())[:_LOOKED_AT]
        ]
    for entry in _entries(value, "statement", _REPLY):
        fields = _by_field(entry, _REPLY)
        reason = _line(fields.get("reason")) + _markers(entry)
        stance = _stance(fields.get("stance") or re.split(r"[:,.;–—]", reason, maxsplit=1)[0])
        ids = statement_ids(fields.get("statement")) or statement_ids(reason)[:1]
        if stance and ids:
            yield from ((name, stance, reason) for name in ids)
        elif _says_something(reason):
            yield "", None, reason


def _stance(value: object) -> Stance | None:
    """Return the stance that words name; None where they name none, or say more than that."""
    found: list[Stance | None] = []
    for word in re.findall(r"[\w’']+", _words(value)[:200].casefold()):
        if word not in _FILLERS:
            stems = (word.removesuffix(ending) for ending in ("", "s", "d", "es", "ed"))
            found.append(next((_STANCES[one] for one in stems if one in _STANCES), None))
    return found[0] if found and len(set(found)) == 1 else None


def _of_members(value: object) -> Iterator[tuple[str, str]]:
    """Yield keys of members, each with what is said of them."""
    for entry in list(_entries(value, "member", _OF_MEMBER))[:MOST_ENTRIES]:
        fields = _by_field(entry, _OF_MEMBER)
        text = _line(fields.get("text")) + _markers(entry)
        if _says_something(text):
            yield _line(fields.get("member"))[:400], text


def _lines(value: object) -> tuple[str, ...]:
    entries = value if isinstance(value, list) else [value]
    lines = (_BULLET.sub("", _line(entry)).strip() for entry in entries[:_LOOKED_AT])
    return tuple(filter(_says_something, lines))[:MOST_ENTRIES]


def _line(value: object) -> str:
    return _shorten(sanitise_line(_words(value)), _LONGEST_LINE)


def _bounded(text: str) -> str:
    return _shorten(sanitise(text).text.strip(), _LONGEST_TEXT)


def _shorten(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    cut = text[: most - 1]
    return f"{cut.rpartition(' ')[0] or cut}…"


def _words(value: object) -> str:
    """Return the words of what should be a text."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(filter(None, map(_words, value[:_LOOKED_AT])))
    if isinstance(value, Mapping):
        written = _by_field(value, _OF_MEMBER).get("text")
        return f"{written}{_markers(value)}" if isinstance(written, str) else ""
    return ""


def _markers(entry: Entry) -> str:
    """Return the markers of citations that a model wrote apart from its sentence."""
    cited = entry.get("citations") or entry.get("sources")
    names = cited[:_LOOKED_AT] if isinstance(cited, list) else [cited]
    written = [str(name).strip("[] ") for name in names if isinstance(name, (str, int))]
    return "".join(f" [{name}]" for name in written if name and not {"[", "]"} & set(name))


def _question(value: object, questions: Sequence[str]) -> str:
    words = sanitise_line(_words(value) if isinstance(value, str) else str(value or ""))
    by_id = _QUESTION_ID.fullmatch(words)
    if by_id and 0 < int(by_id[1]) <= len(questions):
        return questions[int(by_id[1]) - 1]
    return next((one for one in questions if _fold(one) == _fold(words)), "")


def _option(value: object, options: Sequence[str]) -> str:
    """Return an option as the council spells it; empty for none of them."""
    written = _fold(_words(value))
    return next((one for one in options if _fold(one) == written), "")


def _fold(text: str) -> str:
    return sanitise_line(text).casefold().strip(" .?\"'“”")


def _says_something(line: str) -> bool:
    words = sanitise_line(line).casefold().strip(" .")
    return words not in _NOTHING and any(map(str.isalnum, words)) and words not in _descriptions()


@cache
def _descriptions() -> frozenset[str]:
    """Return what forms say of their fields, which weak models give back."""
    described = (
        words
        for form in (_POSITION, _REPLY, _TURN, _OF_MEMBER, _SUMMARY)
        for words in form.values()
    )
    texts = (words if isinstance(words, str) else words[0] for words in described)
    return frozenset(words.casefold().strip(" .") for words in (*texts, "…"))


# --- while it is being written ------------------------------------------------------------------

_SHOWN: Final = frozenset({"position", "grounds", "reason", "decision"})  # to a reader
_LONGEST_SHOWN: Final = 60_000  # characters of it that are looked at
# Half an escape, or one of half a character.
_HALF_ESCAPE: Final = re.compile(
    r"(?:\\u[dD][89abAB][0-9a-fA-F]{2})?(?:\\(?:u[0-9a-fA-F]{0,3})?)?\Z"
)
_SHARE: Final = 64  # a text is read again once it has grown by one in so many


def partial_text(text_so_far: str) -> str:
    """Return the words for a reader in a JSON object that is still being written.

    Empty as long as there is no object.
    """
    written = _HALF_ESCAPE.sub("", text_so_far[:_LONGEST_SHOWN])
    found = next(objects_in(written), None)
    texts = _strings(found.value, shown=False) if found else ()
    return "\n\n".join(filter(None, (sanitise(one).text.strip() for one in texts)))


def stream_readable_text(on_text: Callable[[str], None]) -> Callable[[str], None]:
    """Return a receiver of the pieces of such an object that passes on what is new for a reader.

    The text is read again only once it has grown by a sixty-fourth, so that the work on all of it
    stays near to linear. The last words may be missing: whoever has the whole text shows that.
    """
    came: list[str] = []
    length = read = 0
    shown = ""

    def receive(piece: str) -> None:
        nonlocal length, read, shown
        came.append(piece)
        length += len(piece)
        if length - read <= read // _SHARE or read > _LONGEST_SHOWN:
            return
        came[:] = ["".join(came)]
        read = length
        text = partial_text(came[0])
        if text.startswith(shown) and text != shown:
            new, shown = text[len(shown) :], text
            on_text(new)

    return receive
