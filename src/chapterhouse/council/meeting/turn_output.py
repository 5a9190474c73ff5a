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

from chapterhouse.council.meeting.output_format import is_echo
from chapterhouse.council.meeting.output_values import (
    LONGEST_NAME,
    LOOKED_AT,
    Entry,
    claim_ids,
    markers_in,
    to_leaning,
    to_line,
    to_option,
    to_reason,
    to_stance,
    to_text,
    words_in,
)
from chapterhouse.text.loose_json import LONGEST, Found, objects_in
from chapterhouse.text.sanitise import sanitise, sanitise_line
from chapterhouse.types import DissentReason, Leaning, Stance

MOST_CLAIMS: Final = 24
_MOST_REPLIES: Final = 60
_MOST_REMARKS: Final = 12  # gaps, questions
_MOST_VERDICTS: Final = 400
_NESTED: Final = 4  # levels below an object at which the one that is meant may lie
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
_OURS: Final = frozenset({"in_form", "warning"})  # fields that no model fills
_NOTHING: Final = frozenset({"none", "nothing", "n/a", "no", "null", "-"})  # instead of no entry
_FENCE: Final = re.compile(r"^[ \t]*(?:```|~~~)[^\n]*$", re.MULTILINE)
_PARAGRAPHS: Final = re.compile(r"\n[ \t]*\n|\n(?=[ \t]*(?:[-*•]|\d{1,3}[.)])[ \t])")
# Where a line begins an object or a list of values; "[1] It leaves" and "[^a:1]" are prose.
_OTHER_FORM: Final = re.compile(r"^[ \t]*(?:\{|\[[ \t]*(?:[{\[\"\]]|$))", re.MULTILINE)
_BULLET: Final = re.compile(r"^\s*(?:[-*•]|\d{1,3}[.)])\s+")
_HEADING: Final = re.compile(r"^\s*#{1,6}\s")


# --- lists ---------------------------------------------------------------------------------------


def _lines(value: object, most: int) -> list[str]:
    entries = value if isinstance(value, list | tuple) else [value]
    words = (_BULLET.sub("", words_in(entry)).strip() for entry in entries)
    return [line for line in words if _says_something(line)][:most]


def _sentences(value: object) -> list[Entry]:
    """Return sentences, each with the words that are quoted for it, if any are."""
    found: list[Entry] = []
    for one in value if isinstance(value, list | tuple) else [value]:
        entry = dict(one) if isinstance(one, BaseModel) else one
        fields = _by_field(entry, StatedOutput) if isinstance(entry, Mapping) else {}
        text = _BULLET.sub("", words_in(entry)).strip()
        if _says_something(text):
            found.append({"text": text, "quotation": fields.get("quotation", "")})
    return found[:MOST_CLAIMS]


def _says_something(line: str) -> bool:
    words = sanitise_line(line).casefold().strip(" .")
    return words not in _NOTHING and any(map(str.isalnum, words)) and not is_echo(words)


def _entries(value: object, key: str) -> Iterator[Entry]:
    """Yield the objects of what should be a list of them.

    Also read are one alone, and an object whose names are what should stand under ``key``.
    """
    if isinstance(value, Mapping) and key not in value:
        for name, entry in value.items():
            yield {
                key: name,
                **(entry if isinstance(entry, Mapping) else {"text": words_in(entry)}),
            }
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
        words, fields = words_in(entry), _by_field(entry, Attributed)
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
    known = [cell for cell in cells if to_option(cell.get("option"), info)]
    return [cell for cell in known if _by_field(cell, VerdictOutput).get("member")][:_MOST_VERDICTS]


# --- what is said --------------------------------------------------------------------------------

Text = Annotated[str, BeforeValidator(to_text)]
Line = Annotated[str, BeforeValidator(to_line)]
Name = Annotated[str, BeforeValidator(partial(to_line, most=LONGEST_NAME))]
Option = Annotated[str, BeforeValidator(to_option)]
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
            words = words_in(fields.get(cls.words))
            fields[cls.words] = words + markers_in(entry)
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
    stance: Annotated[Stance, BeforeValidator(to_stance)] = Stance.SILENT
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

    why: Annotated[DissentReason | None, BeforeValidator(to_reason)] = None


class VerdictOutput(_Output):
    """How a member stands to an option."""

    words, side = "text", "leaning"
    option: Option
    member: Name
    leaning: Annotated[Leaning, BeforeValidator(to_leaning)] = Leaning.SILENT
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
        for value in level[:LOOKED_AT]:
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
