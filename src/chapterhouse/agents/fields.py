"""The fields of a definition, as a form has them: from its schema, and values as texts."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import getdoc
from typing import Any, Final

from chapterhouse.agents.definition import Schema
from chapterhouse.errors import UsageError

Json = Mapping[str, Any]
_MEANT: Final = re.compile(r"^    (\w+): ((?:.+\n?(?:        .+\n?)*))", re.MULTILINE)
_SHORT: Final = 100  # characters; a longer text has several lines
_KINDS: Final = {"array": "lines", "boolean": "choice", "string": "line"}


@dataclass(frozen=True, slots=True)
class FormField:
    """A value of a definition.

    Attributes:
        kind: ``line``, ``text``, ``lines``, ``number`` or ``choice``.
        bounds: The least and the most, of a number.
        default: What holds where nothing is said.
    """

    name: str
    kind: str
    hint: str
    choices: tuple[object, ...] = ()
    bounds: tuple[float | None, float | None] = (None, None)
    longest: int | None = None
    default: object = ""

    def read(self, text: str) -> object:
        """Return what a text means; one that means nothing as it stands: the model says why."""
        text = text.replace("\r\n", "\n").strip()
        if self.kind == "lines":
            lines = filter(None, map(str.strip, text.split("\n")))
            return [_value(line) if line.startswith("{") else line for line in lines]
        if self.kind in {"number", "choice"}:
            return _value(text) if text else self.default
        return text


@dataclass(frozen=True, slots=True)
class FieldGroup:
    """The values of one object of a definition, or of each in a list.

    Attributes:
        name: Its key; empty for the definition itself.
    """

    name: str
    hint: str
    is_list: bool
    fields: tuple[FormField, ...]

    @property
    def empty(self) -> dict[str, object]:
        """An object in which nothing is said."""
        return {one.name: one.default for one in self.fields}

    def names(self, place: str = "") -> Iterator[str]:
        """Yield what its fields are called in a form, at a place such as ``members.2``."""
        return (f"{place or self.name}.{one.name}".lstrip(".") for one in self.fields)

    def read(self, texts: Mapping[str, Sequence[str]]) -> list[dict[str, object]]:
        """Return what a form says, an object for each time that it has the fields."""
        columns = [texts.get(key, ()) for key in self.names()]
        if len(set(map(len, columns))) != 1 or (not self.is_list and len(columns[0]) != 1):
            raise UsageError("The form is not whole.", hint="Open it again.")
        return [
            {one.name: one.read(text) for one, text in zip(self.fields, row, strict=True)}
            for row in zip(*columns, strict=True)
        ]

    def places(self, raw: Json) -> list[tuple[str, dict[str, object]]]:
        """Return its objects in a definition, in full, each with where it is."""
        found = raw.get(self.name) if self.name else raw
        listed = found if isinstance(found, list) else [] if self.is_list else [found]
        return [
            (
                f"{self.name}.{number}" if self.is_list else self.name,
                {**self.empty, **(one if isinstance(one, dict) else {})},
            )
            for number, one in enumerate(listed)
        ]


def field_groups(schema: Schema[Any], model: type, *more: FormField) -> tuple[FieldGroup, ...]:
    """Return the fields of a definition but for its slug, with ``more`` in its first group.

    What they mean is said by the descriptions of the classes; for the first group by ``model``.
    """
    whole = schema.adapter.json_schema()

    def resolve(found: Json) -> Json:
        """Return what a property is: of a list its entries, of what may be null the other."""
        several = [one for one in found.get("anyOf", ()) if one.get("type") != "null"]
        found = {**found, **several[0]} if several else found
        target = found.get("items", found).get("$ref", "")
        return whole["$defs"][target.rpartition("/")[2]] if target else found

    def group(name: str, found: Json, others: Iterable[FormField] = ()) -> FieldGroup:
        meaning = resolve(found) if name else found
        text = meaning.get("description", "") if name else getdoc(model) or ""
        hints = {
            key: " ".join(hint.replace("``", "").replace("None for", "empty for").split())
            for key, hint in _MEANT.findall(text)
        }
        own = [
            form_field(key, inner, hints.get(key, ""))
            for key, one in meaning["properties"].items()
            if key != "slug" and "properties" not in (inner := resolve(one))
        ]
        hint = text.partition("\n")[0] if name else ""
        return FieldGroup(name, hint, found.get("type") == "array", (*own, *others))

    inner = [
        group(key, one) for key, one in whole["properties"].items() if "properties" in resolve(one)
    ]
    return (group("", whole, more), *inner)


def form_field(name: str, found: Json, hint: str = "") -> FormField:
    """Return a value as a form has it; ``found`` is its JSON schema."""
    kind = "choice" if "enum" in found else _KINDS.get(found.get("type", ""), "number")
    longest = found.get("maxLength")
    return FormField(
        name,
        "text" if kind == "line" and (longest or 0) > _SHORT else kind,
        hint,
        tuple(found.get("enum", (True, False) if found.get("type") == "boolean" else ())),
        (found.get("minimum", found.get("gt")), found.get("maximum", found.get("le"))),
        longest,
        found.get("default"),
    )


def read_form(texts: Mapping[str, Sequence[str]], groups: Iterable[FieldGroup]) -> dict[str, Any]:
    """Return what a form says, as JSON has it; single objects that say nothing are left out."""
    raw: dict[str, Any] = {}
    for group in groups:
        found = group.read(texts)
        if group.is_list:
            raw[group.name] = found
        elif not group.name:
            raw |= found[0]
        elif found[0] != group.empty:
            raw[group.name] = found[0]
    return raw


def without_defaults(raw: Json, before: Json, groups: Iterable[FieldGroup]) -> dict[str, Any]:
    """Return a definition without what holds anyway, unless it was said ``before``."""

    def without(new: Json, old: object, group: FieldGroup) -> dict[str, Any]:
        known = old if isinstance(old, dict) else {}
        return {
            key: value
            for key, value in new.items()
            if key in known or key not in group.empty or value != group.empty[key]
        }

    lean: dict[str, Any] = {}
    for group in groups:
        if not group.name:
            lean |= without(raw, before, group)
        elif group.is_list:
            lean[group.name] = [without(one, {}, group) for one in raw[group.name]]
        elif group.name in raw:
            lean[group.name] = without(raw[group.name], before.get(group.name), group)
    return {key: lean[key] for key in (*(k for k in before if k in lean), *lean)}


def as_text(value: object) -> str:
    """Return a value as a field shows it."""
    if isinstance(value, list | tuple):
        return "\n".join(map(as_text, value))
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value if isinstance(value, str) else "" if value is None else json.dumps(value)


def _value(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text
