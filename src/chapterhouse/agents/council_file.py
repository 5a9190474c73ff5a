"""The file ``council.json``: reading it with every problem named, and writing it.

Only its form is looked at here. What cannot be read is left as if it had not been said, so that
``validate`` can name what else is wrong at the same time.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, fields
from functools import partial
from pathlib import Path as FilePath
from typing import Any, Final, TypeVar

from chapterhouse.agents.council import Council
from chapterhouse.agents.council_model import Member, Round, ToolRef, tool_name
from chapterhouse.agents.council_problems import (
    Code,
    CouncilConfigError,
    CouncilProblem,
    Path,
    errors,
    meant,
)
from chapterhouse.agents.definition_json import read_regular
from chapterhouse.agents.strict_json import MAXIMUM_BYTES, decode, load

COUNCIL_FILE: Final = "council.json"
_SPELT: Final = {"chaired_by": "chair"}  # a field whose key is the name of a method
Made = TypeVar("Made")
Found = list[CouncilProblem]


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a file says, and what is wrong with how it says it.

    Attributes:
        council: Without what could not be understood; None where nothing could.
        raw: The object as its owner wrote it.
    """

    council: Council | None
    problems: tuple[CouncilProblem, ...] = ()
    raw: Mapping[str, Any] | None = None


def council_json(council: Council) -> str:
    """Return a council as its file has it, always the same for equal councils."""
    return json.dumps(as_object(council), ensure_ascii=False, indent=2) + "\n"


def as_object(council: Council) -> dict[str, Any]:
    """Return a council as a JSON object, without what is as usual."""
    return {"slug": council.slug, **_written(council)}


def read_council(path: FilePath) -> Parsed:
    """Read the file ``path``; what is wrong stands in the result."""
    try:
        data = read_regular(path, MAXIMUM_BYTES + 1)
    except OSError as error:
        hint = "chapterhouse council new SLUG makes what is missing in a folder."
        sentence = f"{COUNCIL_FILE} cannot be read: {error.strerror}."
        return Parsed(None, (CouncilProblem((), Code.UNREADABLE, sentence, hint),))
    text = decode(data)
    return parse_council(text) if isinstance(text, str) else Parsed(None, (text,))


def parse_council(text: str) -> Parsed:
    """Return what a JSON text says of a council."""
    value, problems = load(text)
    if value is None and problems:
        return Parsed(None, problems)
    if not isinstance(value, dict):
        hint = 'It must look like {"slug": "berths", "members": [{"persona": "maria"}]}.'
        return Parsed(None, (CouncilProblem((), Code.NOT_JSON, "It is no object.", hint),))
    found: Found = list(problems)
    council = _read_object(Council, _COUNCIL, value, (), found)
    return Parsed(council, tuple(found), value)


def required(parsed: Parsed) -> Council:
    """Return the council that was parsed.

    Raises:
        CouncilConfigError: something is wrong with its form.
    """
    wrong = errors(parsed.problems)
    if wrong or parsed.council is None:
        raise CouncilConfigError(wrong)
    return parsed.council


# --- writing ---


def _written(value: Council | Member | Round) -> dict[str, Any]:
    return {
        _SPELT.get(field.name, field.name): _plain(field.name, getattr(value, field.name))
        for field in fields(value)
        if field.default is not MISSING and getattr(value, field.name) != field.default
    }


def _plain(name: str, value: Any) -> Any:
    if name == "tools":
        return [tool_name(tool) for tool in value]
    if isinstance(value, Member):
        return _written(value)
    if isinstance(value, Round):
        more = _written(value)
        return {"name": value.name, **more} if more else value.name
    return [_plain("", entry) for entry in value] if isinstance(value, tuple) else value


# --- reading ---


class _WrongKindError(Exception):
    """A value is not what must stand there."""

    def __init__(self, wanted: str) -> None:
        super().__init__(wanted)
        self.wanted = wanted


Parse = Callable[[object, Path, Found], object]


def _text(value: object, _path: Path, _found: Found) -> str:
    if not isinstance(value, str):
        raise _WrongKindError("text in double quotes")
    return value


def _boolean(value: object, _path: Path, _found: Found) -> bool:
    if not isinstance(value, bool):
        raise _WrongKindError("true or false")
    return value


def _whole(value: object, _path: Path, _found: Found) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise _WrongKindError("a whole number")
    return value


def _number(value: object, _path: Path, _found: Found) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise _WrongKindError("a number")
    return value


def _optional(value: object, path: Path, found: Found, *, parse: Parse) -> object:
    return None if value is None else parse(value, path, found)


def _tool(value: object, path: Path, found: Found) -> ToolRef:
    return _text(value, path, found)


def _member(value: object, path: Path, found: Found) -> Member:
    if not isinstance(value, dict):
        raise _WrongKindError('an object like {"persona": "maria"}')
    return _read_object(Member, _MEMBER, value, path, found)


def _round(value: object, path: Path, found: Found) -> Round:
    if isinstance(value, str):
        return Round(value)
    if not isinstance(value, dict):
        raise _WrongKindError('a name like "synthesis", or an object like {"name": "synthesis"}')
    return _read_object(Round, _ROUND, value, path, found)


def _many(
    value: object, path: Path, found: Found, *, parse: Parse, blank: object
) -> tuple[object, ...]:
    """Read a list; what cannot be read becomes ``blank``, so that the others keep their place."""
    if not isinstance(value, list):
        raise _WrongKindError("a list in square brackets")
    return tuple(
        _tried(parse, entry, (*path, number), found, blank) for number, entry in enumerate(value)
    )


def _tried(parse: Parse, value: object, path: Path, found: Found, otherwise: object) -> object:
    try:
        return parse(value, path, found)
    except _WrongKindError as error:
        sentence = f"It must be {error.wanted}, not {_kind(value)}."
        found.append(CouncilProblem(path, Code.TYPE, sentence, "See docs/councils.md."))
        return otherwise


def _kind(value: object) -> str:
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else "a list"
    return json.dumps(value, ensure_ascii=False)[:_SHOWN]


def _read_object(
    make: Callable[..., Made],
    keys: Mapping[str, tuple[str, Parse]],
    value: Mapping[str, object],
    path: Path,
    found: Found,
) -> Made:
    """Return what an object says; what it says wrongly is as if it were not said."""
    given: dict[str, object] = {}
    defaults = _DEFAULTS[make]
    for key, below in value.items():
        if key not in keys:
            sentence = f"There is no key '{key}'."
            hint = meant(key, keys)
            found.append(CouncilProblem((*path, key), Code.UNKNOWN, sentence, hint))
            continue
        name, parse = keys[key]
        given[name] = _tried(parse, below, (*path, key), found, defaults[name])
    for name in _NEEDED[make] - given.keys():
        sentence, hint = f"'{name}' is missing.", "Add it."
        found.append(CouncilProblem((*path, name), Code.MISSING, sentence, hint))
        given[name] = ""
    return make(**given)


def _keys(
    kind: type[Council | Member | Round], parses: Mapping[str, Parse]
) -> dict[str, tuple[str, Parse]]:
    """Return by key of the file the field and what reads it: text where nothing else is said."""
    return {
        _SPELT.get(field.name, field.name): (field.name, parses.get(field.name, _text))
        for field in fields(kind)
    }


_SHOWN: Final = 60  # characters of a value that is wrong
_texts: Final = partial(_many, parse=_text, blank="")
_tools: Final = partial(_many, parse=_tool, blank="")
_MEMBER: Final = _keys(
    Member,
    {
        "tools": _tools,
        "grounding": partial(_optional, parse=_text),
        "timeout_seconds": partial(_optional, parse=_number),
        "shelves": _texts,
    },
)
_ROUND: Final = _keys(Round, {"speakers": _texts, "anonymous": _boolean, "sees_claims": _boolean})
_COUNCIL: Final = _keys(
    Council,
    {
        "tools": _tools,
        "members": partial(_many, parse=_member, blank=Member()),
        "rounds": partial(_many, parse=_round, blank=Round("")),
        "chaired_by": partial(_optional, parse=_member),
        "folders": _texts,
        "options": _texts,
        "parallel": _whole,
        "round_timeout_seconds": _number,
        "concession_rule": _boolean,
    },
)


def _default(field: "Field[Any]") -> object:
    return "" if field.default is MISSING else field.default


_DEFAULTS: Final[Mapping[Callable[..., object], Mapping[str, object]]] = {
    kind: {field.name: _default(field) for field in fields(kind)}
    for kind in (Council, Member, Round)
}
_NEEDED: Final[Mapping[Callable[..., object], frozenset[str]]] = {
    kind: frozenset(field.name for field in fields(kind) if field.default is MISSING)
    for kind in (Council, Member, Round)
}
