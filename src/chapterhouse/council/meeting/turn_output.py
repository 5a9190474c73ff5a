"""What a model gives in a round, read however it wrote it down, before any of it is checked.

Models keep to a form only more or less, and weak ones less. Names in other spellings, one entry
instead of a list, an object instead of a list: whatever can be told is taken as it was meant. Where
nothing is in the form, the prose is taken for what it states. Everything is bounded: what is too
long is cut, what is too much is left out, and no string holds what nobody can see.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Annotated, ClassVar, Final, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationInfo, model_validator

from chapterhouse.council.meeting.options import is_for
from chapterhouse.text.loose_json import LONGEST, Found, objects_in
from chapterhouse.text.sanitise import sanitise, sanitise_line
from chapterhouse.types import DissentReason, Leaning, Stance

MOST_CLAIMS: Final = 24
_MOST_REPLIES: Final = 60
_MOST_REMARKS: Final = 12  # gaps, questions
_MOST_VERDICTS: Final = 400
_LONGEST_TEXT: Final = 4_000  # characters of a position or a reason
_LONGEST_LINE: Final = 2_000
_LONGEST_NAME: Final = 400  # of an option or a member
_NESTED: Final = 4  # levels below an object at which the one that is meant may lie
_LOOKED_AT: Final = 200  # values on the way there
_FEW: Final = 4  # words
_NOT_THE_FORM: Final = (
    "It did not answer in the form that was asked for; its text was taken as it is."
)
_NOTHING_TAKEN: Final = (
    "It did not answer in the form that was asked for, and its text states nothing outside another."
)
_CUT_OFF: Final = "What it wrote is cut off; what stands before that was taken."
_OTHER_NAMES: Final[Mapping[str, tuple[str, ...]]] = {  # of fields, those that count first before
    "claim": ("claim_id", "id"),
    "to": ("to_claim",),
    "stance": ("position", "verdict", "view"),
    "leaning": ("stance", "verdict", "view"),
    "reason": ("text", "why", "because", "comment", "reply"),
    "text": ("reason", "why"),
    "member": ("who", "shelf"),
    "quotation": ("quote", "evidence", "source_text"),
}
_WORDED: Final = ("text", "claim", "statement", "sentence", "content", "reason", "question")
_OURS: Final = frozenset({"in_form", "warning"})  # fields that no model fills
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

Entry = Mapping[object, object]


# --- single values -------------------------------------------------------------------------------


def shorten(text: str, most: int) -> str:
    """Return a text cut at its last whole word within ``most`` characters."""
    if len(text) <= most:
        return text
    shortened_text = text[: most - 1]
    return f"{shortened_text.rpartition(' ')[0] or shortened_text}…"


def _words(value: object) -> str:
    """Return the words of what should be a text."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(filter(None, map(_words, value[:_LOOKED_AT])))
    if isinstance(value, Mapping):
        words = next((value[key] for key in _WORDED if isinstance(value.get(key), str)), "")
        return f"{words}{_markers(value)}" if words else ""
    return ""


def _markers(entry: Entry) -> str:
    """Return the markers of citations that a model wrote apart from its sentence."""
    cited = entry.get("citations") or entry.get("sources")
    names = [cited] if isinstance(cited, str) else cited if isinstance(cited, list) else ()
    written = [name.strip("[]^ ") for name in names[:_LOOKED_AT] if isinstance(name, str)]
    return "".join(f" [^{name}]" for name in written if ":" in name and "]" not in name)


def _text(value: object) -> str:
    return shorten(sanitise(_words(value)).text.strip(), _LONGEST_TEXT)


def _line(value: object, most: int = _LONGEST_LINE) -> str:
    return shorten(sanitise_line(_words(value)), most)


def _option(value: object, info: ValidationInfo) -> str:
    """Return an option as the council spells it, where it is known; empty for none of them."""
    written = _words(value)
    options = info.context if info.context is not None else [written]
    return next((_line(one, _LONGEST_NAME) for one in options if _fold(one) == _fold(written)), "")


def _fold(option: str) -> str:
    return sanitise_line(option).casefold().strip(" .\"'“”")


def _stance(value: object) -> Stance:
    name = str(value).strip().lower()
    if name in set(Stance):
        return Stance(name)
    return {True: Stance.SUPPORTS, False: Stance.CONTRADICTS, None: Stance.SILENT}[is_for(value)]


def _leaning(value: object) -> Leaning:
    name = str(value).strip().lower()
    if name in set(Leaning):
        return Leaning(name)
    return {True: Leaning.FOR, False: Leaning.AGAINST, None: Leaning.SILENT}[is_for(value)]


def _reason(value: object) -> DissentReason | None:
    name = str(value).strip().lower().replace(" ", "-").replace("_", "-")
    return DissentReason(name) if name in set(DissentReason) else None


def claim_ids(value: object) -> tuple[str, ...]:
    """Return the ids of claims that stand in what a model wrote, such as ``c3`` for "[C3]"."""
    if isinstance(value, list):
        found = [name for entry in value[:_LOOKED_AT] for name in claim_ids(entry)]
        return tuple(dict.fromkeys(found))
    written = sanitise_line(str(value))[:400] if isinstance(value, (str, int)) else ""
    if written.isascii() and written.isdecimal():
        return (f"c{int(written)}",)
    return tuple(dict.fromkeys(f"c{int(number)}" for number in _CLAIM_ID.findall(written)))


# --- lists ---------------------------------------------------------------------------------------


def _lines(value: object, most: int) -> list[str]:
    entries = value if isinstance(value, list | tuple) else [value]
    words = (_BULLET.sub("", _words(entry)).strip() for entry in entries)
    return [line for line in words if _says_something(line)][:most]


def _sentences(value: object) -> list[Entry]:
    """Return sentences, each with the words that are quoted for it, if any are."""
    found: list[Entry] = []
    for entry in value if isinstance(value, list | tuple) else [value]:
        fields = _by_field(entry, StatedOutput) if isinstance(entry, Mapping) else {}
        text = _BULLET.sub("", _words(entry)).strip()
        if _says_something(text):
            found.append({"text": text, "quotation": fields.get("quotation", "")})
    return found[:MOST_CLAIMS]


def _says_something(line: str) -> bool:
    words = sanitise_line(line).casefold().strip(" .")
    return words not in _NOTHING and any(map(str.isalnum, words))


def _entries(value: object, key: str) -> Iterator[Entry]:
    """Yield the objects of what should be a list of them.

    Also read are one alone, and an object whose names are what should stand under ``key``.
    """
    if isinstance(value, Mapping) and key not in value:
        for name, entry in value.items():
            yield {key: name, **(entry if isinstance(entry, Mapping) else {"text": _words(entry)})}
        return
    for entry in value if isinstance(value, list | tuple) else [value]:
        if isinstance(entry, Mapping | BaseModel):
            yield dict(entry)
        elif isinstance(entry, str) and isinstance(value, list):
            yield {key: entry, "text": entry}


def _by_claim(value: object, most: int) -> list[Entry]:
    """Return entries about claims: one that names several is one for each of them."""
    found: list[Entry] = [
        {**entry, "claim": claim}
        for entry in _entries(value, "claim")
        for claim in claim_ids(_by_field(entry, ReplyOutput).get("claim"))
    ]
    return found[:most]


def _by_member(value: object) -> list[Entry]:
    """Return what is said of members; bare texts are nobody's."""
    if isinstance(value, str):
        value = [value]
    found: list[Entry] = []
    for entry in _entries(value, "member"):
        words, fields = _words(entry), _by_field(entry, Attributed)
        if _says_something(words):
            member = fields.get("member", "")
            member = "" if member == words else member
            found.append({"member": member, "text": words, "why": entry.get("why")})
    return found[:MOST_CLAIMS]


def _verdicts(value: object, info: ValidationInfo) -> list[Entry]:
    """Return the cells of a matrix; ``{option: {member: …}}``, too, is read."""
    if isinstance(value, Mapping):
        rows = [(option, _entries(row, "member")) for option, row in value.items()]
        cells: list[Entry] = [{"option": option, **cell} for option, row in rows for cell in row]
    else:
        cells = list(_entries(value, "option"))
    known = [cell for cell in cells if _option(cell.get("option"), info)]
    return [cell for cell in known if _by_field(cell, VerdictOutput).get("member")][:_MOST_VERDICTS]


# --- what is said --------------------------------------------------------------------------------

Text = Annotated[str, BeforeValidator(_text)]
Line = Annotated[str, BeforeValidator(_line)]
Name = Annotated[str, BeforeValidator(partial(_line, most=_LONGEST_NAME))]
Option = Annotated[str, BeforeValidator(_option)]
Remarks = Annotated[tuple[Line, ...], BeforeValidator(partial(_lines, most=_MOST_REMARKS))]


class _Output(BaseModel):
    """Something that a model said, under whatever spelling of its names."""

    model_config = ConfigDict(frozen=True)
    words: ClassVar[str] = ""  # the field for words whose citations may stand apart from them
    side: ClassVar[str] = ""  # the field that the first words of a reason tell, if it is missing

    @model_validator(mode="before")
    @classmethod
    def _spelt_otherwise(cls, entry: Entry) -> dict[str, object]:
        fields = _by_field(entry, cls)
        if cls.words:
            words = _words(fields.get(cls.words))
            fields[cls.words] = words + _markers(entry)
            if cls.side and not fields.get(cls.side):
                leading = re.split(r"[:,.;–—]", words[:100], maxsplit=1)[0]
                fields[cls.side] = leading if len(leading.split()) <= _FEW else ""
        return fields


class StatedOutput(_Output):
    """A sentence with its markers, and the words of a source that its writer quotes for it."""

    words = "text"
    text: Line = ""
    quotation: Line = ""


Claims = Annotated[tuple[StatedOutput, ...], BeforeValidator(_sentences)]


class ReplyOutput(_Output):
    """What a member says on a claim, its id, and the words of a source that they quote for it."""

    words, side = "reason", "stance"
    claim: Name
    stance: Annotated[Stance, BeforeValidator(_stance)] = Stance.SILENT
    reason: Text = ""
    quotation: Line = ""


class ConcessionOutput(_Output):
    """A claim of their own that a member gives up, and the one it gives way to, or none."""

    words = "reason"
    claim: Name
    to: Annotated[str, BeforeValidator(lambda value: next(iter(claim_ids(value)), ""))] = ""
    reason: Text = ""


class _Whole(_Output):
    """All that a model said.

    Attributes:
        in_form: Whether an object of the form stood in its text; else its prose was taken.
        warning: How it had to be read, where not as it was written.
    """

    in_form: bool = True
    warning: str = ""


class TurnOutput(_Whole):
    """What a member says in a round; claims have the markers as the model wrote them."""

    position: Text = ""
    option: Option = ""
    claims: Claims = ()
    replies: Annotated[
        tuple[ReplyOutput, ...], BeforeValidator(partial(_by_claim, most=_MOST_REPLIES))
    ] = ()
    concessions: Annotated[
        tuple[ConcessionOutput, ...], BeforeValidator(partial(_by_claim, most=MOST_CLAIMS))
    ] = ()
    missing: Remarks = ()
    open_questions: Remarks = ()


class Attributed(_Output):
    """What is said against a decision or is missing, and by or from whom."""

    member: Name = ""
    text: Line


class DissentOutput(Attributed):
    """What stands against a decision, and why it does."""

    why: Annotated[DissentReason | None, BeforeValidator(_reason)] = None


class VerdictOutput(_Output):
    """How a member stands to an option."""

    words, side = "text", "leaning"
    option: Option
    member: Name
    leaning: Annotated[Leaning, BeforeValidator(_leaning)] = Leaning.SILENT
    text: Line = ""


class SynthesisOutput(_Whole):
    """How the chair sums up."""

    decided: Option = ""
    decision: Claims = ()
    grounds: Claims = ()
    dissent: Annotated[tuple[DissentOutput, ...], BeforeValidator(_by_member)] = ()
    open_questions: Remarks = ()
    missing: Annotated[tuple[Attributed, ...], BeforeValidator(_by_member)] = ()
    matrix: Annotated[tuple[VerdictOutput, ...], BeforeValidator(_verdicts)] = ()


Output = TypeVar("Output", TurnOutput, SynthesisOutput)


def read_turn(text: str, options: Sequence[str] = ()) -> TurnOutput:
    """Return what a member said, from a model's text.

    Args:
        text: As the model wrote it. Only the first 200,000 characters are looked at.
        options: What is to be decided between; another choice is none.
    """
    return _read(text, options, TurnOutput, "claims")


def read_synthesis(text: str, options: Sequence[str] = ()) -> SynthesisOutput:
    """Return how the chair sums up, from a model's text; arguments as ``read_turn``."""
    return _read(text, options, SynthesisOutput, "decision")


def _read(text: str, options: Sequence[str], model: type[Output], prose: str) -> Output:
    """Return the object that fits best; where there is none, paragraphs as the field ``prose``."""
    clean = sanitise(text[:LONGEST]).text
    best: dict[str, object] = {}
    whole = True
    for found in objects_in(clean):
        for value in _objects(found):
            fields = _by_field(value, model)
            if len(fields.keys() - _OURS) > len(best):
                best, whole = {k: v for k, v in fields.items() if k not in _OURS}, found.whole
    if best:
        warning = "" if whole else _CUT_OFF
        return model.model_validate({**best, "warning": warning}, context=options)
    stated = _paragraphs(clean)
    warning = _NOT_THE_FORM if stated else _NOTHING_TAKEN
    return model.model_validate({prose: stated, "in_form": False, "warning": warning})


def _objects(found: Found) -> Iterator[Entry]:
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


def _by_field(entry: Entry, model: type[BaseModel]) -> dict[str, object]:
    """Return the values of an object by the fields of a model, in whatever spelling or number."""
    spelt = {_letters(str(key)): value for key, value in reversed(list(entry.items()))}
    found: dict[str, object] = {}
    for name in model.model_fields:
        names = map(_letters, (name, *_OTHER_NAMES.get(name, ())))
        written = [spelt[one] for one in names if one in spelt]
        if written:
            found[name] = next(filter(None, written), written[0])
    return found


def _letters(name: str) -> str:
    return "".join(filter(str.isalpha, name[:100].casefold())).rstrip("s")


def _paragraphs(prose: str) -> tuple[str, ...]:
    """Return what a text without any form states: its paragraphs and the entries of its lists.

    From where another form begins, such as JSON with other names, nothing is stated.
    """
    prose = _FENCE.sub("", prose)
    form = _OTHER_FORM.search(prose)
    prose = prose[: form.start()] if form else prose
    found = (_BULLET.sub("", part).strip() for part in _PARAGRAPHS.split(prose))
    return tuple(part for part in found if part and not _HEADING.match(part))[:MOST_CLAIMS]
