"""The settings in the database of a workspace: which there may be, and how they join the others.

Pure: what is stored is read and written elsewhere.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Final, cast

from pydantic import BaseModel, ValidationError

from chapterhouse.errors import RefusedError, UsageError
from chapterhouse.settings import HOME_FILE, SECRET, WORKSPACE_FILE, RerankSettings, Settings
from chapterhouse.settings_file import (
    StatedSettings,
    explain_problems,
    fields_of,
)
from chapterhouse.types import Origin, SettingValue, StoredSetting

_DEFAULTS: Final = Settings()
_SET: Final = "(set)"


# --- names ----------------------------------------------------------------------------------------


_MOST: Final = 1_000  # of search.per_document
# Names of other systems; what their values become, ``convert_value`` says.
ALIASES: Final[Mapping[str, str]] = {
    "chunk_size": "chunking.target",
    "min_chunk_size": "chunking.minimum",
    "max_chunk_size": "chunking.maximum",
    "chunk_overlap": "chunking.overlap",
    "n_results": "search.limit",
    "max_tokens": "packing.maximum",
    "min_similarity": "search.min_similarity",
    "diversity_factor": "search.per_document",
    "rag_rerank_enabled": "rerank.engine",
}


def convert_value(name: str, value: object, below: Settings) -> object:
    """Return what a value given under a name, which may be an alias, is for its setting.

    Args:
        name: As the caller calls the setting.
        below: The settings without the database's.

    Raises:
        UsageError: the value is none that the alias takes.
    """
    if name == "diversity_factor":  # the share of one document, of which a number has to be made
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
            raise UsageError(f"diversity_factor is a number from 0 to 1, not {value!r}.")
        return min(int(1 / value + 1e-9), _MOST) if value else 0
    if name == "rag_rerank_enabled":
        if not isinstance(value, bool):
            raise UsageError(f"rag_rerank_enabled is true or false, not {value!r}.")
        if _names_provider(below.rerank):  # which is what is switched there
            return "http" if value else _DEFAULTS.rerank.engine
        stated = below.rerank.engine
        return (stated if stated != "none" else _DEFAULTS.rerank.engine) if value else "none"
    return value


def _names_provider(rerank: RerankSettings) -> bool:
    """Whether files name a service that reranks, whatever engine is on."""
    return bool(rerank.base_url and rerank.model)


def setting_names() -> tuple[str, ...]:
    """Return the names of all settings but those of further models, section by section."""
    return tuple(
        f"{section}.{name}" for section in Settings.model_fields for name in fields_of(section)
    )


def find_setting(name: str) -> str:
    """Return the name of a setting, which may be named by an alias.

    Raises:
        UsageError: there is none; the hint names a similar one.
    """
    found = ALIASES.get(name, name)
    known = setting_names()
    if found in known or found.startswith("models."):
        return found
    near = get_close_matches(name, (*known, *ALIASES), n=1)
    raise UsageError(
        f"There is no setting '{name}'.",
        hint=f"Did you mean {near[0]}?" if near else "See: chapterhouse settings list",
    )


def is_changeable(name: str) -> bool:
    """Say whether a setting may be changed in the database; not one that is unknown."""
    section, _, setting = name.partition(".")
    kind = Settings.model_fields[section].annotation if section in Settings.model_fields else None
    is_section = isinstance(kind, type) and issubclass(kind, BaseModel)
    return is_section and setting in cast("Any", kind).changeable


def schema_of(name: str) -> Mapping[str, Any]:
    """Return what values a setting may have, as a JSON schema; of further models nothing."""
    section, _, setting = name.partition(".")
    kind = Settings.model_fields[section].annotation if section in Settings.model_fields else None
    if not isinstance(kind, type) or not issubclass(kind, BaseModel):
        return {}
    properties: Mapping[str, Mapping[str, Any]] = kind.model_json_schema()["properties"]
    return properties.get(setting, {})


# --- values ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ResolvedSettings:
    """The settings that hold for a workspace.

    Attributes:
        stated: What files and environment say; None where nothing else may change them.
        ignored: Of that, what does not hold, by name, and why.
        sequence: The last change in the database that counts here.
    """

    settings: Settings
    stated: StatedSettings | None = None
    stored: Mapping[str, StoredSetting] = field(default_factory=dict)
    ignored: Mapping[str, str] = field(default_factory=dict)
    sequence: int = 0


def resolve(
    stated: StatedSettings, stored: Mapping[str, StoredSetting], sequence: int
) -> ResolvedSettings:
    """Return the settings that hold: what the database says wins, as far as it can be.

    What it says of settings that there are not, or that belong to the machine, and values that do
    not go with the others are ignored: another version may have written them, or a file have
    changed since. Of values that do not go together those hold that were changed last.

    Args:
        stored: What the database says, what was changed last first.
    """
    below = stated.settings
    values = {name: one.value for name, one in stored.items()}
    ignored = {name: why for name in values if (why := _problem(name, values[name], below))}
    wanted = {name: value for name, value in values.items() if name not in ignored}
    try:
        settings = overlay(below, wanted)
    except UsageError:
        settings, others = _overlay_possible(below, wanted)
        ignored |= others
    return ResolvedSettings(settings, stated, stored, ignored, sequence)


def overlay(below: Settings, values: Mapping[str, object]) -> Settings:
    """Return settings with other values, all of them validated together.

    Raises:
        UsageError: they do not fit; the message names the settings and the reasons.
    """
    if not values:
        return below
    tree = below.model_dump()
    for name, value in values.items():
        section, _, setting = name.partition(".")
        tree[section][setting] = value
    try:
        return Settings.model_validate(tree)
    except ValidationError as error:
        raise UsageError(f"The settings do not fit: {explain_problems(error)}.") from None


def _overlay_possible(
    below: Settings, wanted: Mapping[str, object]
) -> tuple[Settings, Mapping[str, str]]:
    """Return settings with as many of the values as go together, the first ones first."""
    fit: dict[str, object] = {}
    ignored: dict[str, str] = dict.fromkeys(wanted, "")
    settings, count = below, -1
    while count < len(fit):  # one may need another that comes later
        count = len(fit)
        for name in tuple(ignored):
            try:
                settings = overlay(below, {**fit, name: wanted[name]})
            except UsageError as error:
                ignored[name] = error.message
            else:
                fit[name] = wanted[name]
                del ignored[name]
    return settings, ignored


def require_possible(name: str, value: object, below: Settings) -> None:
    """Refuse a value that the database may not have.

    Raises:
        RefusedError: the setting belongs to the machine.
        UsageError: only a file of the machine may name it first.
    """
    if not is_changeable(name):
        raise RefusedError(
            f"The setting {name} belongs to the machine and is not changed in a workspace's "
            "database.",
            hint=f"Write it into {HOME_FILE} in the home folder, or {WORKSPACE_FILE} in the "
            "folder of the workspace.",
        )
    if problem := _problem(name, value, below):
        raise UsageError(problem, hint="See docs/settings.md.")


def _problem(name: str, value: object, below: Settings) -> str:
    """Say what is wrong with a value, however the others are; empty where nothing is."""
    if not is_changeable(name):
        return f"The setting {name} is not one that a workspace's database may have."
    is_text = isinstance(value, str)  # what it is otherwise does not fit, as is said later
    opens = name == "rerank.engine" and value in ("folder", "http")  # what a file has to name
    is_named = value == "http" and _names_provider(below.rerank)
    if opens and value != below.rerank.engine and not is_named:
        return f"{name} can be {value!r} only where a settings file says so."
    if name == "expansion.model" and is_text and value and value not in below.models:
        known = ", ".join(sorted(below.models)) or "none"
        return f"There is no model {value!r} for expansion.model; there are: {known}."
    return ""


def value_of(settings: Settings, name: str) -> Any:
    """Return the value of a setting, as JSON has it."""
    section, _, setting = name.partition(".")
    return getattr(settings, section).model_dump(mode="json")[setting]


def setting_values(resolved: ResolvedSettings) -> tuple[SettingValue, ...]:
    """Return all settings with their origins.

    Those of further models are there where they are stated, and those that there are not where the
    database says something of them.
    """
    now, defaults = (one.model_dump(mode="json") for one in (resolved.settings, _DEFAULTS))
    found = [
        _setting_value(resolved, name, now[section][setting], defaults[section][setting])
        for name in setting_names()
        for section, _, setting in (name.partition("."),)
    ]
    for model, values in resolved.settings.models.items():
        stated = values.model_dump(mode="json", exclude_defaults=True)
        initial = type(values)().model_dump(mode="json")
        found += [
            _setting_value(resolved, f"models.{model}.{setting}", value, initial[setting])
            for setting, value in stated.items()
        ]
    shown = {one.name for one in found}
    found += [
        _setting_value(resolved, name, None, None) for name in resolved.ignored if name not in shown
    ]
    return tuple(found)


def _setting_value(
    resolved: ResolvedSettings, name: str, value: object, default: object
) -> SettingValue:
    stored = resolved.stored.get(name)
    return SettingValue(
        name=name,
        value=_SET if name.rpartition(".")[2] in SECRET and value != default else value,
        origin=_origin(resolved, name),
        default=default,
        changed=stored.at if stored else 0,
        changed_by=stored.by if stored else "",
        is_changeable=is_changeable(name),
        ignored=resolved.ignored.get(name, ""),
        needs_reindex=name.startswith("chunking."),
    )


def _origin(resolved: ResolvedSettings, name: str) -> Origin:
    if name in resolved.stored and name not in resolved.ignored:
        return Origin.DATABASE
    section, setting, *_ = name.split(".")
    layers = resolved.stated.layers if resolved.stated else {}
    found = [origin for origin, layer in layers.items() if setting in layer.get(section, {})]
    return found[-1] if found else Origin.DEFAULT
