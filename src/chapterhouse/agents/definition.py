"""Definition files: JSON in which nothing is lost on the way, compared with a pydantic model.

No key twice, no half characters, no numbers beyond; and each thing wrong is named at its place.
"""

import json
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Final, Generic, Literal, Protocol, TypeVar

from pydantic import (
    AfterValidator,
    Field,
    PlainSerializer,
    PlainValidator,
    TypeAdapter,
    ValidationError,
)
from pydantic_core import PydanticCustomError, PydanticKnownError

from chapterhouse.agents.problems import (
    Code,
    DefinitionError,
    KeyPath,
    Problem,
    in_file,
    located,
    meant,
    mismatch_problems,
    spell,
)
from chapterhouse.errors import NotFoundError, RefusedError, UsageError
from chapterhouse.store.definitions import Definitions
from chapterhouse.text.naming import valid_name
from chapterhouse.text.sanitise import sanitise, sanitise_line

MAXIMUM_BYTES: Final = 1_000_000
# Shelves, words of commands, and folders that are not a persona's or council's own.
RESERVED: Final = frozenset(
    [
        "all",
        "council",
        "councils",
        "everyone",
        "general",
        "library",
        "none",
        "persona",
        "personas",
        "shared",
    ]
)
_SHOWN: Final = 60  # characters of a value that is wrong
_LONGEST_SECONDS: Final = 86_400
LONGEST_NAME: Final = 80  # characters
LONGEST_SLUG: Final = 40


class Definition(Protocol):
    """A persona or council as its file has it."""

    @property
    def slug(self) -> str:
        """Its name in commands, and that of its folder."""

    @property
    def display_name(self) -> str:
        """How it is called; empty for the slug in words."""

    @property
    def folders(self) -> tuple[str, ...]:
        """Further folders whose documents are its own."""


Model = TypeVar("Model", bound=Definition)


@dataclass(frozen=True, slots=True)
class DefinitionFolder(Generic[Model]):
    """A persona or council as its folder, which is absolute, has it."""

    path: Path
    config: Model

    @property
    def slug(self) -> str:
        """Its name in commands."""
        return self.config.slug

    @property
    def display_name(self) -> str:
        """How it is called; the slug in words where the file is silent."""
        return self.config.display_name or self.slug.replace("-", " ").title()

    @property
    def folders(self) -> tuple[Path, ...]:
        """The further folders whose documents are its own, absolute."""
        return self.located(self.config.folders)

    def located(self, written: Iterable[str]) -> tuple[Path, ...]:
        """Return paths as the file writes them, absolute."""
        return tuple(located(self.path, one) for one in written)


# --- values --------------------------------------------------------------------------------------


def one_line(value: str) -> str:
    """Refuse text that is not one clean line."""
    if sanitise_line(value) != value:
        raise PydanticCustomError(
            "invisible",
            "must be one line without invisible characters, and without spaces at its ends",
        )
    return value


def _visible(value: str) -> str:
    if sanitise(value).text != value:
        raise PydanticCustomError(
            "invisible", "holds characters that nobody sees, which a model would read"
        )
    return value


def _shelf(value: str) -> str:
    if not valid_name(value):
        raise PydanticCustomError("name", f"cannot be the name of a shelf: {value!r}")
    return value


def _slug(value: str) -> str:
    if value in RESERVED:
        raise PydanticCustomError("reserved", f"is a reserved word: {value!r}")
    return value


def _number(value: object) -> float:
    """Return a number as it is written: 30 stays 30 and does not become 30.0."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise PydanticKnownError("float_type")
    return value


Grounding = Literal["inject", "tool", "both"]
Name = Annotated[str, Field(max_length=LONGEST_NAME), AfterValidator(one_line)]
Text = Annotated[str, Field(max_length=20_000), AfterValidator(_visible)]
ShelfName = Annotated[str, AfterValidator(_shelf)]
Slug = Annotated[
    str,
    Field(min_length=1, max_length=LONGEST_SLUG, pattern="^[a-z0-9]+(?:-[a-z0-9]+)*$"),
    AfterValidator(_slug),
]
Seconds = Annotated[
    float,
    PlainValidator(_number),
    Field(gt=0, le=_LONGEST_SECONDS, allow_inf_nan=False),
    PlainSerializer(lambda value: value),
]


@dataclass(frozen=True, slots=True)
class Schema(Generic[Model]):
    """What the file of a definition may say.

    Attributes:
        keys: The keys that an object may have, by its path without numbers.
        page: Where they are documented.
        unreadable: What to do where it cannot be read.
        hints: What to do about a wrong value, by its keys, as ``rounds.name``, or by the first.
        objects: What must stand where an object of a class is wanted, by the name of the class.
        in_full: Returns an object with what may be written short in full.
    """

    file: str
    error: type[DefinitionError]
    adapter: TypeAdapter[Model]
    keys: Mapping[tuple[str, ...], Sequence[str]]
    page: str
    example: str
    unreadable: str
    hints: Mapping[str, str] = field(default_factory=dict)
    objects: Mapping[str, str] = field(default_factory=dict)
    in_full: Callable[[Mapping[str, Any]], Mapping[str, Any]] = lambda raw: raw


@dataclass(frozen=True, slots=True)
class ParsedDefinition(Generic[Model]):
    """What a file says, and what is wrong with its form.

    Attributes:
        raw: The object as its owner wrote it; of a key that is there twice the first counts.
    """

    schema: Schema[Model]
    value: Model | None = None
    raw: Mapping[str, Any] | None = None
    problems: tuple[Problem, ...] = ()

    def required(self) -> Model:
        """Return the definition, or raise the ``error`` of its schema with all that is wrong."""
        if self.value is None or self.problems:
            raise self.schema.error(self.problems)
        return self.value


# --- reading -------------------------------------------------------------------------------------


def read_definition(
    definitions: Definitions, name: str, schema: Schema[Model]
) -> ParsedDefinition[Model]:
    """Return what the file in the folder ``name`` says."""
    raw, problems = _read_object(definitions, name, schema)
    return parsed_in_folder(_compare(raw, problems, schema), name)


def parsed_in_folder(parsed: ParsedDefinition[Model], name: str) -> ParsedDefinition[Model]:
    """Return what was parsed as said by the file in the folder ``name``."""
    problems = (*mismatch_problems((parsed.raw or {}).get("slug"), name), *parsed.problems)
    return replace(
        parsed, problems=tuple(in_file(f"{name}/{parsed.schema.file}", dict.fromkeys(problems)))
    )


def parse_definition(data: bytes | str, schema: Schema[Model]) -> ParsedDefinition[Model]:
    """Return what JSON says."""
    return _compare(*parse_object(data, schema.page, schema.example), schema)


def change_definition(
    definitions: Definitions, name: str, changes: Mapping[str, object], schema: Schema[Model]
) -> Model:
    """Set some keys of a file, such as ``profile.expertise``; all else stays as it is written.

    One that cannot be used as it is can be fixed so; nothing is written that could not be used.
    """
    raw, problems = _read_object(definitions, name, schema)
    changed = None if raw is None else with_changes(raw, changes)
    value = parsed_in_folder(_compare(changed, problems, schema), name).required()
    definitions.write(name, schema.file, as_json(changed or {}))
    return value


Read = tuple[dict[str, Any] | None, tuple[Problem, ...]]  # an object, and what is wrong with it


def _read_object(definitions: Definitions, name: str, schema: Schema[Any]) -> Read:
    try:
        data = definitions.read(name, schema.file, MAXIMUM_BYTES + 1)
    except OSError as error:
        sentence = f"{schema.file} cannot be read: {error.strerror}."
        return None, (Problem((), Code.UNREADABLE, sentence, schema.unreadable),)
    return parse_object(data, schema.page, schema.example)


def parse_object(data: bytes | str, page: str = "", example: str = "{}") -> Read:
    """Return the JSON object that ``data`` holds; None where there is none."""
    if len(data) > MAXIMUM_BYTES:
        return _not_json(f"It has more than {MAXIMUM_BYTES:,} bytes.", "Make it shorter.")
    try:
        text = data if isinstance(data, str) else data.decode("utf-8-sig")
        value = json.loads(
            text, object_pairs_hook=_Pairs, parse_constant=_refuse, parse_float=_finite
        )
    except UnicodeDecodeError as error:
        before = error.object[: error.start].decode("utf-8", "replace")
        line, column = before.count("\n") + 1, len(before.rpartition("\n")[2]) + 1
        return _not_json(f"It is not UTF-8 (line {line}, column {column}).", "Save it as UTF-8.")
    except json.JSONDecodeError as error:
        sentence = f"It is not JSON: {error.msg} (line {error.lineno}, column {error.colno})."
        hint = "JSON wants double quotes, a comma between entries and none behind the last."
        return _not_json(sentence, hint)
    except (ValueError, RecursionError) as error:
        return _not_json(f"It is not JSON: {error}.", f"See docs/{page}.")
    if not isinstance(value, _Pairs):
        return _not_json("It is no object.", f"It must look like {example}.")
    return _plain(value), tuple(_misspelled(value, ()))


class _Pairs(list[tuple[str, Any]]):
    """An object as JSON spells it, before keys given twice are lost."""


def _not_json(sentence: str, hint: str) -> Read:
    return None, (Problem((), Code.NOT_JSON, sentence, hint),)


def _refuse(name: str) -> float:
    raise ValueError(f"{name} is no number")


def _finite(written: str) -> float:
    number = float(written)
    if not math.isfinite(number):
        raise ValueError(f"{written} is too large")
    return number


def _misspelled(value: object, path: KeyPath) -> Iterator[Problem]:
    if isinstance(value, str) and not is_text(value):
        yield Problem(path, Code.TYPE, "It holds half of a character.", "Write it out.")
    elif isinstance(value, _Pairs):
        seen: set[str] = set()
        for key, below in value:
            if not is_text(key):
                yield Problem(path, Code.TYPE, "A key holds half of a character.", "Rename it.")
                continue
            if key in seen:
                sentence = f"'{key}' is there twice."
                yield Problem((*path, key), Code.DUPLICATE, sentence, "Leave one of them out.")
            seen.add(key)
            yield from _misspelled(below, (*path, key))
    elif isinstance(value, list):
        for number, entry in enumerate(value):
            yield from _misspelled(entry, (*path, number))


def is_text(value: str) -> bool:
    """Whether every character is whole; JSON can spell halves."""
    return not any("\ud800" <= character <= "\udfff" for character in value)


def _plain(value: Any) -> Any:
    """Return a value with objects as dictionaries, without what is not text."""
    if isinstance(value, _Pairs):
        found: dict[str, Any] = {}
        for key, below in value:
            if is_text(key):
                found.setdefault(key, _plain(below))
        return found
    if isinstance(value, str) and not is_text(value):
        return ""
    return [_plain(entry) for entry in value] if isinstance(value, list) else value


# --- comparing with the model --------------------------------------------------------------------


def _compare(
    raw: dict[str, Any] | None, problems: tuple[Problem, ...], schema: Schema[Model]
) -> ParsedDefinition[Model]:
    """Return what an object says, or everything for which it cannot be read as the model."""
    if raw is None:
        return ParsedDefinition(schema, problems=problems)
    try:
        # By way of JSON, where strictness takes a list for a tuple but no text for a number.
        value = schema.adapter.validate_json(json.dumps(schema.in_full(raw)))
    except ValidationError as error:
        found = [_problem(entry, schema) for entry in error.errors()]
        places = {key: number for number, key in enumerate(raw)}  # pydantic's order is the model's
        found.sort(key=lambda one: places.get(str(one.path[0]), -1))
        return ParsedDefinition(schema, None, raw, (*problems, *found))
    return ParsedDefinition(schema, value, raw, problems)


def value_problems(values: Mapping[str, Any], schema: Schema[Any]) -> tuple[Problem, ...]:
    """Return what is wrong with the values of a model that was made in Python, by their keys."""
    try:
        schema.adapter.validate_python(values, strict=False)
    except ValidationError as error:
        return tuple(_problem(entry, schema) for entry in error.errors())
    return ()


def _problem(entry: Any, schema: Schema[Any]) -> Problem:
    path: KeyPath = tuple(entry["loc"])
    code = _CODES.get(entry["type"], Code.TYPE)
    if entry["type"] in _NO_SUCH_KEY:
        return Problem(path, code, f"There is no key '{path[-1]}'.", _key_meant(path, schema))
    top = str(path[0]) if path else ""
    if code is Code.MISSING:
        hint = "Set it to the name of the folder." if path == ("slug",) else "Add it."
        return Problem(path, code, f"'{path[-1]}' is missing.", hint)
    keys = ".".join(part for part in path if isinstance(part, str))
    known = schema.hints.get(keys) or schema.hints.get(top) or _HINTS.get(code)
    hint = known or f"See '{top}' in docs/{schema.page}."
    return Problem(path, code, _sentence(entry, schema), hint)


def _sentence(entry: Any, schema: Schema[Any]) -> str:
    """Return what is wrong with a value in words for people; pydantic's own are for coders."""
    context = entry.get("ctx", {})
    reason = schema.objects.get(context.get("class_name", ""), _REASONS.get(entry["type"]))
    if reason is None:  # from a validator of ours
        return f"It {entry['msg']}."
    reason = reason.format(**{name: _as_whole(value) for name, value in context.items()})
    if entry["type"] in _SEEN_AT_ONCE:
        return f"{reason}."
    return f"{reason}, not {_shown(entry['input'])}."


def _shown(value: object) -> str:
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else "a list"
    return json.dumps(value, ensure_ascii=False)[:_SHOWN]


def _as_whole(value: object) -> object:
    """Return 1 for 1.0: what a bound is made of is no matter to people."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _key_meant(path: KeyPath, schema: Schema[Any]) -> str:
    """Return which key was meant: the nearest here, the same elsewhere, or any that may be here."""
    *above, key = path
    known = schema.keys[tuple(part for part in above if isinstance(part, str))]
    near = meant(str(key), known)
    elsewhere = next((place for place, names in schema.keys.items() if key in names), None)
    if elsewhere is None or near.startswith("Did you mean"):
        return near
    return f"Did you mean '{spell((*elsewhere, key))}'?"


_SEEN_AT_ONCE: Final = frozenset(("string_too_short", "string_too_long", "too_long"))
_NO_SUCH_KEY: Final = ("extra_forbidden", "unexpected_keyword_argument")  # model and dataclass
_CODES: Final = {
    **dict.fromkeys(_NO_SUCH_KEY, Code.UNKNOWN),
    "finite_number": Code.RANGE,
    "greater_than": Code.RANGE,
    "greater_than_equal": Code.RANGE,
    "invisible": Code.INVISIBLE,
    "less_than_equal": Code.RANGE,
    "literal_error": Code.UNKNOWN,
    "missing": Code.MISSING,
    "name": Code.NAME,
    "reserved": Code.RESERVED,
    "string_pattern_mismatch": Code.NAME,
    "string_too_long": Code.RANGE,
    "string_too_short": Code.EMPTY,
    "too_long": Code.RANGE,
}
_HINTS: Final = {
    Code.INVISIBLE: "Type it anew.",
    Code.EMPTY: "Write something, or leave it out.",
}
_REASONS: Final = {
    "bool_type": "It must be true or false",
    "float_type": "It must be a number",
    "finite_number": "It must be a number with an end",
    "greater_than": "It must be above {gt}",
    "greater_than_equal": "It must be at least {ge}",
    "int_from_float": "It must be a whole number",
    "int_type": "It must be a whole number",
    "less_than_equal": "It must be at most {le}",
    "literal_error": "It must be {expected}",
    "model_type": "It must be an object in braces",
    "string_pattern_mismatch": "It must be lower-case letters and digits with single hyphens",
    "string_too_long": "It must have at most {max_length} characters",
    "string_too_short": "It is empty",
    "string_type": "It must be text in double quotes",
    "too_long": "It must have at most {max_length} entries",
    "tuple_type": "It must be a list in square brackets",
}


# --- changing and writing ------------------------------------------------------------------------


def with_changes(raw: Mapping[str, Any], changes: Mapping[str, object]) -> dict[str, Any]:
    """Return ``raw`` with other values at some keys, such as ``retrieval.max_chunks``.

    What its owner wrote keeps its place; a new key comes last.
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
        result[top] = with_changes(inner, {below: value})
    return result


def require_new(definitions: Definitions, kind: str, name: str, file: str, hint: str) -> None:
    """Check that nothing would be written over."""
    if definitions.has(name, file):
        where = definitions.folder(name)
        raise RefusedError(f"There is a {kind} '{name}' already, in {where}.", hint=hint)


def as_json(raw: Mapping[str, Any]) -> str:
    """Return an object as a definition file spells it."""
    return json.dumps(raw, ensure_ascii=False, indent=2) + "\n"


# By name, with what the configuration of a new persona says beside the usual.
PERSONA_TEMPLATES: Final[Mapping[str, Mapping[str, Any]]] = {
    "expert": {},
    "advisor": {"answer": {"words": 200}},
    "archivist": {"answer": {"words": 120}},
    "teacher": {"answer": {"words": 160}},
    "blank": {},
}
DEFAULT_PERSONA_TEMPLATE: Final = "expert"
COUNCIL_TEMPLATES: Final = (
    "contracts", "versions", "literature", "decision", "red-team", "blank",
)  # fmt: skip
DEFAULT_COUNCIL_TEMPLATE: Final = "decision"


def require_template(name: str, known: Collection[str]) -> None:
    """Check that there is a template of this name."""
    if name not in known:
        raise NotFoundError(
            f"There is no template '{name}'.", hint=f"There are: {', '.join(known)}."
        )


def prose_from(template: str, display_name: str) -> str:
    """Return the prose of a new persona."""
    return template_text(f"{template}.md").replace("{display_name}", display_name)


def template_text(name: str) -> str:
    """Return a file of ``template_texts``."""
    texts = resources.files("chapterhouse.agents").joinpath("template_texts")
    return texts.joinpath(name).read_text("utf-8")
