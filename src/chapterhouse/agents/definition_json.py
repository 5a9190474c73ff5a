"""The file ``persona.config.json``: reading it with every problem named, and writing it."""

import difflib
import errno
import json
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, cast, get_origin

from pydantic import BaseModel, ValidationError

from chapterhouse.agents.persona_config import PersonaConfig
from chapterhouse.agents.problems import PersonaConfigError, PersonaProblem
from chapterhouse.errors import UsageError
from chapterhouse.files import write_whole

_MAXIMUM_BYTES: Final = 1_000_000
_SHOWN: Final = 60  # characters of a value that is wrong


def read_regular(path: Path, most: int) -> bytes:
    """Return the first bytes of a file; a pipe or device would keep us waiting.

    Raises:
        OSError: it is not there, no file, or cannot be read.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as stream:  # noqa: PTH123 - of a descriptor
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "It is no regular file", str(path))
        return stream.read(most)


def read_raw(path: Path, shown: str = "") -> dict[str, Any]:
    """Return the object in a configuration file as its owner wrote it.

    Args:
        path: The file.
        shown: How problems call it; its path by default.

    Raises:
        PersonaConfigError: it is not there, is not UTF-8 or not JSON (line and column say where),
            or has a key twice.
    """
    file = shown or str(path)
    try:
        data = read_regular(path, _MAXIMUM_BYTES + 1)
    except OSError as error:
        hint = "chapterhouse persona new SLUG writes what is missing in a folder."
        raise _broken(file, "", f"it cannot be read: {error.strerror}", hint) from None
    if len(data) > _MAXIMUM_BYTES:
        raise _broken(file, "", f"it has more than {_MAXIMUM_BYTES:,} bytes", "Make it shorter.")
    return parse_raw(data, file)


def parse_raw(data: bytes, file: str) -> dict[str, Any]:
    """Return the JSON object that ``data`` holds; errors as for ``read_raw``."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        where = _place(data[: error.start].decode("utf-8", "replace"))
        raise _broken(file, "", f"it is not UTF-8 ({where})", "Save it as UTF-8.") from None
    try:
        value = json.loads(text, object_pairs_hook=_Pairs, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        hint = "JSON wants double quotes, a comma between entries and none behind the last."
        raise _broken(file, "", f"it is not JSON: {error.msg} ({where})", hint) from None
    except (ValueError, RecursionError) as error:
        raise _broken(file, "", f"it is not JSON: {error}", "See docs/personas.md.") from None
    problems = list(_twice(value, file))
    if problems:
        raise PersonaConfigError(problems)
    if not isinstance(value, _Pairs):
        hint = 'It must look like {"slug": "maria", "tags": []}.'
        raise _broken(file, "", "it holds no JSON object", hint)
    return cast("dict[str, Any]", _plain(value))


def parse_config(raw: Mapping[str, Any], file: str) -> PersonaConfig:
    """Return the configuration that ``raw`` states.

    Raises:
        PersonaConfigError: with every problem: an unknown key, a value of the wrong kind or size.
    """
    try:
        # By way of JSON, where strictness takes a list for a tuple but no text for a number.
        return PersonaConfig.model_validate_json(json.dumps(raw))
    except ValidationError as error:
        raise PersonaConfigError([_problem(entry, file) for entry in error.errors()]) from None


def edited(raw: Mapping[str, Any], changes: Mapping[str, object]) -> dict[str, Any]:
    """Return ``raw`` with other values at some keys, such as ``retrieval.max_chunks``.

    What its owner wrote keeps its place; a new key comes last.

    Raises:
        UsageError: a key leads into something that is no object.
    """
    result = dict(raw)
    for key, value in changes.items():
        top, dot, below = key.partition(".")
        if not dot:
            result[top] = value
            continue
        inner = result.get(top, {})
        if not isinstance(inner, dict):
            raise UsageError(f"'{top}' is no object, so there is no '{key}'.")
        result[top] = edited(inner, {below: value})
    return result


def written_value(key: str, text: str) -> object:
    """Return what ``KEY=TEXT`` means: JSON where it is some, else text; a list between commas."""
    try:
        value: object = json.loads(text, parse_constant=_refuse_constant)
    except ValueError:
        value = text
    if key in _LISTS and not isinstance(value, list):
        return [part.strip() for part in text.split(",") if part.strip()]
    return text if key in _TEXTS and not isinstance(value, str) else value


def write_config(path: Path, raw: Mapping[str, Any]) -> None:
    """Replace the file ``path`` as a whole, so that nobody ever reads half of it."""
    write_whole(path, json.dumps(raw, ensure_ascii=False, indent=2) + "\n")


class _Pairs(list[tuple[str, Any]]):
    """An object as JSON spells it, before keys given twice are lost."""


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number")


def _twice(value: object, file: str, above: str = "") -> Iterator[PersonaProblem]:
    if isinstance(value, str) and not _is_text(value):
        yield PersonaProblem(file, above, "it holds half of a character", "Write it out.")
    elif isinstance(value, _Pairs):
        seen: set[str] = set()
        for key, below in value:
            path = f"{above}.{key}" if above else key
            if not _is_text(key):
                yield PersonaProblem(file, above, "a key holds half of a character", "Rename it.")
                continue
            if key in seen:
                yield PersonaProblem(file, path, "it stands there twice", "Leave one of them out.")
            seen.add(key)
            yield from _twice(below, file, path)
    elif isinstance(value, list):
        for number, entry in enumerate(value):
            yield from _twice(entry, file, f"{above}[{number}]")


def _is_text(value: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in value)


def _plain(value: Any) -> Any:
    if isinstance(value, _Pairs):
        return {key: _plain(below) for key, below in value}
    return [_plain(entry) for entry in value] if isinstance(value, list) else value


def _problem(entry: Any, file: str) -> PersonaProblem:
    path = tuple(entry["loc"])
    key = _spelt(path)
    if entry["type"] == "extra_forbidden":
        return PersonaProblem(file, key, "there is no such key", _meant(path))
    if entry["type"] == "missing":
        hint = "Set it to the name of the folder." if key == "slug" else "Add it."
        return PersonaProblem(file, key, "it is missing", hint)
    return PersonaProblem(file, key, _reason(entry), _advice(key))


def _reason(entry: Any) -> str:
    """Return what is wrong with a value in words for people; the library's own are for coders."""
    written = _REASONS.get(entry["type"])
    if written is None:
        return f"it {entry['msg'].removeprefix('Value error, ')}"
    reason = written.format(
        **{name: _number(value) for name, value in entry.get("ctx", {}).items()}
    )
    given = entry["input"]
    if isinstance(given, (dict, list)) or entry["type"] in _SEEN_AT_ONCE:
        return reason
    return f"{reason}, not {json.dumps(given, ensure_ascii=False)[:_SHOWN]}"


def _number(value: object) -> object:
    """Return 1 for 1.0: what a bound is made of is no matter to people."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


_SEEN_AT_ONCE: Final = frozenset(("string_too_short", "string_too_long", "too_long"))
_REASONS: Final = {
    "bool_type": "it must be true or false",
    "float_type": "it must be a number",
    "greater_than_equal": "it must be at least {ge}",
    "int_from_float": "it must be a whole number",
    "int_type": "it must be a whole number",
    "less_than_equal": "it must be at most {le}",
    "literal_error": "it must be {expected}",
    "model_type": "it must be an object in braces",
    "string_pattern_mismatch": "it must be lower-case letters and digits with single hyphens",
    "string_too_long": "it must have at most {max_length} characters",
    "string_too_short": "it is empty",
    "string_type": "it must be text in double quotes",
    "too_long": "it must have at most {max_length} entries",
    "tuple_type": "it must be a list in square brackets",
}
_ADVICE: Final = {
    "slug": "Call it as the folder is called, like: maria-keller",
    "grounding": 'Most want "inject": their documents are always searched.',
    "out_of_scope": 'Most want "defer": they say that it is not for them.',
    "shelves": "See the shelves there are: chapterhouse status",
}


def _advice(key: str) -> str:
    top = key.partition(".")[0].partition("[")[0]
    return _ADVICE.get(top, f"See '{top}' in docs/personas.md.")


def _meant(path: Sequence[object]) -> str:
    known = _keys_at(path[:-1])
    close = difflib.get_close_matches(str(path[-1]), known, n=1, cutoff=0.6)
    if close:
        return f"Did you mean '{_spelt((*path[:-1], close[0]))}'?"
    elsewhere = [name for name, _ in _annotations() if name.rpartition(".")[2] == path[-1]]
    if elsewhere:
        return f"Did you mean '{elsewhere[0]}'?"
    return f"There are: {', '.join(known)}."


def _annotations() -> Iterator[tuple[str, object]]:
    for name, field in PersonaConfig.model_fields.items():
        yield name, field.annotation
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            for below, inner in field.annotation.model_fields.items():
                yield f"{name}.{below}", inner.annotation


_LISTS: Final = frozenset(key for key, kind in _annotations() if get_origin(kind) is tuple)
_TEXTS: Final = frozenset(key for key, kind in _annotations() if kind is str)


def _keys_at(path: Sequence[object]) -> list[str]:
    model: type[BaseModel] = PersonaConfig
    for part in path:
        below = model.model_fields[str(part)].annotation
        assert isinstance(below, type)
        assert issubclass(below, BaseModel)
        model = below
    return list(model.model_fields)


def _spelt(path: Sequence[object]) -> str:
    key = ""
    for part in path:
        key += f"[{part}]" if isinstance(part, int) else f".{part}" if key else str(part)
    return key


def _place(before: str) -> str:
    return f"line {before.count(chr(10)) + 1}, column {len(before.rpartition(chr(10))[2]) + 1}"


def _broken(file: str, key: str, reason: str, hint: str) -> PersonaConfigError:
    return PersonaConfigError([PersonaProblem(file, key, reason, hint)])
