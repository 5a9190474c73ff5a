"""Whether the arguments of a tool are what its JSON schema says.

The part of JSON Schema that tools of this house use (https://json-schema.org/draft/2020-12):
types, properties, required ones, enumerations, lengths and ranges. A schema that says more is
refused before a model sees it, so that nothing is promised that nobody checks.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from chapterhouse.errors import UsageError

_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "object": (Mapping,),
    "array": (list, tuple),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}
_NOTES: Final = frozenset({"title", "description", "default", "examples"})
_CHECKED: Final = frozenset(
    {
        "type",
        "enum",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "minItems",
        "maxItems",
        "minLength",
        "maxLength",
        "minimum",
        "maximum",
    }
)


def check_schema(schema: Mapping[str, object], where: str) -> None:
    """Refuse a schema that ``faults`` would not check whole.

    Args:
        schema: Of the arguments, or of a part of them.
        where: What it belongs to, for the message.

    Raises:
        UsageError: it has a keyword or a type that is not checked.
    """
    unknown = sorted(set(schema) - _CHECKED - _NOTES)
    kinds = [kind for kind in _kinds(schema) if kind not in _TYPES]
    if unknown or kinds:
        raise UsageError(
            f"The schema of {where} uses {', '.join(unknown + kinds)}, which is not checked."
        )
    for name, part in _mapping(schema.get("properties")).items():
        check_schema(_mapping(part), f"{where}.{name}")
    check_schema_items = schema.get("items")
    if check_schema_items is not None:
        check_schema(_mapping(check_schema_items), f"{where}[]")


def faults(value: object, schema: Mapping[str, object], where: str = "") -> Iterator[str]:
    """Yield what is wrong with ``value``, each as one sentence for the model."""
    name = where or "the arguments"
    kinds = _kinds(schema)
    if kinds and not any(_is(value, kind) for kind in kinds):
        yield f"{name} must be of type {' or '.join(kinds)}"
        return
    choices = schema.get("enum")
    if isinstance(choices, Sequence) and value not in choices:
        yield f"{name} must be one of {', '.join(map(repr, choices))}"
    if isinstance(value, str):
        yield from _sized(len(value), schema, "minLength", "maxLength", f"the length of {name}")
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield from _sized(value, schema, "minimum", "maximum", name)
    elif isinstance(value, Mapping):
        yield from _object_faults(value, schema, where)
    elif isinstance(value, (list, tuple)):
        yield from _sized(len(value), schema, "minItems", "maxItems", f"the length of {name}")
        for place, entry in enumerate(value):
            yield from faults(entry, _mapping(schema.get("items")), f"{where}[{place}]")


def _object_faults(
    value: Mapping[object, object], schema: Mapping[str, object], where: str
) -> Iterator[str]:
    before = f"{where}." if where else ""
    known = _mapping(schema.get("properties"))
    required = schema.get("required")
    for name in required if isinstance(required, Sequence) else ():
        if name not in value:
            yield f"{before}{name} is missing"
    for name, entry in value.items():
        if name in known:
            yield from faults(entry, _mapping(known[str(name)]), f"{before}{name}")
        elif schema.get("additionalProperties") is False:
            yield f"{before}{name} is not known"


def _sized(
    number: float, schema: Mapping[str, object], least: str, most: str, name: str
) -> Iterator[str]:
    lower, upper = schema.get(least), schema.get(most)
    if isinstance(lower, (int, float)) and number < lower:
        yield f"{name} must be at least {lower}"
    if isinstance(upper, (int, float)) and number > upper:
        yield f"{name} must be at most {upper}"


def _kinds(schema: Mapping[str, object]) -> tuple[str, ...]:
    stated = schema.get("type", ())
    if isinstance(stated, str):
        return (stated,)
    return tuple(str(kind) for kind in stated) if isinstance(stated, Sequence) else ()


def _is(value: object, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    if isinstance(value, float) and not math.isfinite(value):
        return False  # Python reads NaN and Infinity, JSON has none, and no range excludes NaN
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES.get(kind, ()))


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}
