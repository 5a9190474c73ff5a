"""The form in which a model answers in a round: as a schema, in words, and as it is being written.

The schemas have no references, no formats and no optional parts, so that every service takes them
that can hold a model to a schema, and are as small as the round allows, for weak models.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Final

from chapterhouse.agents.council_model import RoundKind
from chapterhouse.loading import lazy
from chapterhouse.text.sanitise import sanitise, sanitise_line
from chapterhouse.types import DissentReason, Leaning, OutputFormat, Stance

if TYPE_CHECKING:
    import pydantic_core
else:
    pydantic_core = lazy("pydantic_core")

UNDECIDED: Final = "undecided"  # how an option is called that is none
_SHOWN: Final = ("position", "claims", "decision")  # to a reader, while it is being written
_LONGEST: Final = 60_000  # characters of it that are looked at
_ECHO: Final = 25  # letters by which a description is known again
_SHARE: Final = 64  # a text is read again once it has grown by one in so many
# What a model is told that did not keep to the form, before its own text.
ASK_AGAIN: Final = (
    "What you wrote is below. It is not one JSON object of the shape that was asked for. Write the "
    "same again as that object and nothing else: no code fence, no text before or after it. Keep "
    "every sentence and every marker of a citation as it is, and add nothing."
)
_INTRODUCTION: Final = (
    "Answer with one JSON object of this shape and nothing else: no code fence, no text before or "
    "after it. Leave a list empty where you have nothing to say there.\n"
)

Schema = Mapping[str, object]


def _text(description: str) -> Schema:
    return {"type": "string", "description": description}


def _choice(choices: Sequence[str], description: str) -> Schema:
    return {"type": "string", "enum": list(choices), "description": description}


def _list(items: Schema, description: str) -> Schema:
    return {"type": "array", "items": items, "description": description}


def _object(properties: Mapping[str, Schema]) -> Schema:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


_QUOTATION: Final = _text("the words of that source that say it, copied exactly: at most 30")


def _stated(text: str) -> Schema:
    return _object({"text": _text(text), "quotation": _QUOTATION})


_CLAIM: Final = _stated("one fact in one sentence, with the marker of the source that says it")
_CLAIMS: Final = _list(_CLAIM, "at most 12 facts that bear on the question")
_MISSING: Final = _list(_text("what evidence you lack, in a sentence"), "at most 6")
_QUESTIONS: Final = _list(_text("a question that stays open"), "at most 6")
_ANY_CLAIM: Final = "the id of a claim, such as c3"
_REPLIES: Final = _list(
    _object(
        {
            "claim": _text(_ANY_CLAIM),
            "stance": _choice(
                [stance.value for stance in Stance],
                "what your evidence says on it; of a claim of your own, supports to hold it",
            ),
            "reason": _text("why, in a sentence or two, with the markers of what carries it"),
            "quotation": _QUOTATION,
        }
    ),
    "one for each claim on which you have evidence, and for each of your own that is open",
)
_CONCESSIONS: Final = _list(
    _object(
        {
            "claim": _text("the id of a claim of your own that you give up, such as c2"),
            "to": _text("the id of the claim to which it gives way; empty if it is evidence alone"),
            "reason": _text("the evidence that is new to you, with its marker"),
        }
    ),
    "only where evidence that is new to you bears on the claim",
)


def format_of(kind: RoundKind, options: Sequence[str]) -> OutputFormat:
    """Return the form of what is said in a round: only what that round needs.

    Args:
        kind: What happens in the round.
        options: What is to be decided between, if anything.
    """
    choices = list(dict.fromkeys([*map(sanitise_line, options), UNDECIDED])) if options else []
    if kind is RoundKind.SYNTHESIS:
        return OutputFormat("synthesis", _synthesis(choices))
    properties: dict[str, Schema] = {
        "position": _text("your view in one or two sentences; no facts that need a citation")
    }
    if choices:
        properties["option"] = _choice(choices, "what you would choose now")
    properties["claims"] = _CLAIMS
    if kind is not RoundKind.INDEPENDENT_ANALYSIS:
        properties |= {"replies": _REPLIES, "concessions": _CONCESSIONS}
    properties |= {"missing": _MISSING, "open_questions": _QUESTIONS}
    return OutputFormat(kind.value, _object(properties))


def _synthesis(choices: Sequence[str]) -> Schema:
    member = _text("the key of the member")
    dissent_entry = {
        "member": member,
        "text": _text("a sentence, with the markers of what carries it"),
        "why": _choice([one.value for one in DissentReason], "why they hold something else"),
    }
    properties: dict[str, Schema] = {}
    if choices:
        properties["decided"] = _choice(choices, "the option that the evidence carries")
    sentence = _stated("a sentence, with the markers of what carries it")
    properties |= {
        "decision": _list(sentence, "the answer, or why there is none: at most 4 sentences"),
        "grounds": _list(sentence, "what it rests on, current and about it: at most 8 sentences"),
        "dissent": _list(_object(dissent_entry), "what stands against it, and who says so"),
        "open_questions": _QUESTIONS,
        "missing": _list(
            _object({"member": member, "text": _text("what is missing on their shelf")}),
            "evidence that nobody gave, and from whom it would have to come",
        ),
    }
    if choices:
        cell = {
            "option": _choice([name for name in choices if name != UNDECIDED] or choices, "which"),
            "member": member,
            "leaning": _choice([leaning.value for leaning in Leaning], "how they stand to it"),
            "text": _text("why, in a sentence, with the markers of what carries it"),
        }
        properties["matrix"] = _list(_object(cell), "one for each option and member")
    return _object(properties)


def is_echo(text: str) -> bool:
    """Whether a text only gives back what a form says about it, as weak models do."""
    begin = text.casefold()[:_ECHO]
    return len(begin) >= _ECHO and any(begin == one[:_ECHO] for one in _descriptions())


@cache
def _descriptions() -> tuple[str, ...]:
    forms = (format_of(kind, ("a", "b")) for kind in RoundKind)
    found = (words for form in forms for words in _words_in(form.schema))
    return tuple(dict.fromkeys(words.casefold() for words in found))


def _words_in(schema: object) -> Iterator[str]:
    if isinstance(schema, Mapping):
        if isinstance(schema.get("description"), str):
            yield schema["description"]
        for part in schema.values():
            yield from _words_in(part)


def shape_in_words(form: OutputFormat) -> str:
    """Return what a system message says of a form: an example, with words for its values."""
    return _INTRODUCTION + _shown(form.schema, "")


def ask_again(form: OutputFormat) -> str:
    """Return what a model is told that did not keep to the form; its text is the prompt."""
    return f"{ASK_AGAIN}\n\n{shape_in_words(form)}"


def _shown(schema: object, indent: str) -> str:
    """Return a part of a schema as an example of itself."""
    if not isinstance(schema, Mapping):
        return "null"
    kind, deeper = schema.get("type"), f"{indent}  "
    if kind == "object":
        properties = schema["properties"]
        last = next(reversed(properties))
        lines = [
            f"{deeper}{json.dumps(name)}: {_shown(part, deeper)}"
            f"{'' if name == last else ','}{_remark(part)}\n"
            for name, part in properties.items()
        ]
        return f"{{\n{''.join(lines)}{indent}}}"
    if kind == "array":
        return f"[{_shown(schema['items'], indent)}, …]"
    choices = schema.get("enum")
    words = schema.get("description", "")
    if choices:
        words = f"{words}: one of {' | '.join(choices)}"
    return json.dumps(words, ensure_ascii=False)


def _remark(part: Mapping[str, object]) -> str:
    return f"  // {part['description']}" if part.get("type") == "array" else ""


# --- while it is being written ------------------------------------------------------------------


def partial_text(text_so_far: str) -> str:
    """Return the words for a reader in a JSON object that is still being written.

    Those of its position, its claims and its decision, in the order in which they were written,
    with empty lines between them. Empty as long as there is no object, or it cannot be read.
    """
    _, found, written = text_so_far[:_LONGEST].partition("{")
    if not found:
        return ""
    try:
        value = pydantic_core.from_json(
            f"{{{_without_end(written)}", allow_partial="trailing-strings", allow_inf_nan=False
        )
    except ValueError:
        return ""
    return "\n\n".join(filter(None, _texts(value)))


def stream_readable_text(on_text: Callable[[str], None]) -> Callable[[str], None]:
    """Return a receiver of the pieces of such an object that passes on what is new for a reader.

    The text is read again only once it has grown by a sixty-fourth, so that the work on all of it
    stays near to linear. The last words may be missing: whoever has the whole text shows that.
    """
    return _Pieces(on_text)


class _Pieces:
    """What came, and what of it was passed on."""

    def __init__(self, on_text: Callable[[str], None]) -> None:
        self._on_text = on_text
        self._came: list[str] = []
        self._length = self._read = 0
        self._shown = ""

    def __call__(self, piece: str) -> None:
        self._came.append(piece)
        self._length += len(piece)
        if self._length - self._read <= self._read // _SHARE or self._read > _LONGEST:
            return
        self._came = ["".join(self._came)]
        self._read = self._length
        text = partial_text(self._came[0])
        if text.startswith(self._shown) and text != self._shown:
            new, self._shown = text[len(self._shown) :], text
            self._on_text(new)


def _without_end(written: str) -> str:
    """Return the object without what follows it, such as the end of a code fence."""
    end = written.rfind("}")
    follows = written[end + 1 :]
    return written[: end + 1] if end >= 0 and follows.strip().strip("`") == "" else written


def _texts(value: object) -> Iterator[str]:
    if not isinstance(value, Mapping):
        return
    for name, entry in value.items():
        if name in _SHOWN:
            for part in entry if isinstance(entry, list) else [entry]:
                text = part.get("text") if isinstance(part, Mapping) else part
                if isinstance(text, str):
                    yield sanitise(text).text.strip()
