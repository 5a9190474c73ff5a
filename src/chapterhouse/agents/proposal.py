"""What ``update`` would change in a persona's profile, for a person to accept.

Three versions meet: what was accepted last, what stands in the configuration now, and what the
documents say today. What a person added stays, what a person took out does not come back, and
what nobody touched follows the documents.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from chapterhouse.agents.definition_json import parse_object, write_object
from chapterhouse.agents.persona_config import PERSONA_SCHEMA, PersonaConfig, Profile
from chapterhouse.agents.profile import MOST_ALIASES, MOST_TAGS, MOST_TERMS, Generated
from chapterhouse.retrieval.boost import fold_tag
from chapterhouse.text.aliases import fold_name

GENERATED_FILE: Final = ".generated.json"
_Fold = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Change:
    """One key that would change, from what to what, and why."""

    key: str
    before: tuple[str, ...] | str
    after: tuple[str, ...] | str
    why: str

    @property
    def added(self) -> tuple[str, ...]:
        """The entries of a list that are new, in order."""
        return _without(self.after, self.before)

    @property
    def dropped(self) -> tuple[str, ...]:
        """The entries of a list that would go, in order."""
        return _without(self.before, self.after)


@dataclass(frozen=True, slots=True)
class Proposal:
    """A profile to be accepted.

    Attributes:
        remembered: What is kept with an acceptance, to tell a person's own words the next time.
        reasons: What speaks for each new tag, by tag.
        method: ``statistics``, or a model's name.
        warnings: What did not work and what was done instead.
    """

    before: PersonaConfig
    after: PersonaConfig
    changes: tuple[Change, ...]
    remembered: Generated
    reasons: tuple[tuple[str, str], ...] = ()
    method: str = "statistics"
    warnings: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Whether anything would change."""
        return bool(self.changes)


def propose(config: PersonaConfig, last: Generated, now: Generated) -> Proposal:
    """Return what to change in ``config``.

    Args:
        config: As it is.
        last: What was generated when a proposal was accepted last; empty if none was.
        now: What the documents give today.
    """
    profile = config.profile
    tags, own_tags = _merged(config.tags, last.tags, now.tags, MOST_TAGS, fold_tag)
    key_terms, own_terms = _merged(
        profile.key_terms, last.key_terms, now.key_terms, MOST_TERMS, fold_name
    )
    aliases, own_aliases = _merged(
        profile.aliases, last.aliases, now.aliases, MOST_ALIASES, fold_name
    )
    is_own = profile.expertise and profile.expertise != last.expertise
    expertise = profile.expertise if is_own or not now.expertise else now.expertise
    after = config.model_copy(
        update={
            "tags": tags,
            "profile": Profile(expertise=expertise, key_terms=key_terms, aliases=aliases),
        }
    )
    pairs = (
        ("tags", config.tags, tags),
        ("profile.expertise", profile.expertise, expertise),
        ("profile.key_terms", profile.key_terms, key_terms),
        ("profile.aliases", profile.aliases, aliases),
    )
    changes = tuple(
        Change(key, old, new, _why(key, now.method)) for key, old, new in pairs if old != new
    )
    added = set(tags) - set(config.tags)
    return Proposal(
        before=config,
        after=after,
        changes=changes,
        remembered=Generated(
            tags=own_tags,
            key_terms=own_terms,
            aliases=own_aliases,
            expertise=last.expertise if is_own else expertise,
        ),
        reasons=tuple((tag, why) for tag, why in now.why if tag in added),
        method=now.method,
        warnings=now.warnings,
    )


def read_last(folder: Path) -> Generated:
    """Return what was generated when a proposal was accepted last in a persona's folder.

    A file that cannot be used counts as none: then nothing that stands there is dropped.
    """
    try:
        read = parse_object((folder / GENERATED_FILE).read_bytes(), PERSONA_SCHEMA)
    except OSError:
        return Generated()
    if read.problems or read.value is None:
        return Generated()
    raw = read.value
    return Generated(
        tags=_texts(raw.get("tags")),
        key_terms=_texts(raw.get("key_terms")),
        aliases=_texts(raw.get("aliases")),
        expertise=str(raw.get("expertise", "")),
    )


def write_last(folder: Path, generated: Generated) -> None:
    """Remember in a persona's folder what was generated."""
    fields = {
        "about": "What chapterhouse persona update proposed last; it tells your own words from it.",
        "tags": list(generated.tags),
        "expertise": generated.expertise,
        "key_terms": list(generated.key_terms),
        "aliases": list(generated.aliases),
    }
    write_object(folder / GENERATED_FILE, fields)


def changes_by_key(proposal: Proposal) -> Mapping[str, object]:
    """Return the new values by key, as they are written into the configuration."""
    return {
        change.key: change.after if isinstance(change.after, str) else list(change.after)
        for change in proposal.changes
    }


def _merged(
    current: Sequence[str], last: Sequence[str], now: Sequence[str], most: int, fold: _Fold
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return a list's entries from now on, and which of all are ours to drop or to leave out."""
    ours, fresh, present = (set(map(fold, entries)) for entries in (last, now, current))
    retained = [entry for entry in current if fold(entry) not in ours or fold(entry) in fresh]
    new = [entry for entry in now if fold(entry) not in present | ours]
    new = new[: max(0, most - len(retained))]
    still_ours = [entry for entry in retained if fold(entry) in ours]
    taken_out = [entry for entry in last if fold(entry) not in present]
    return (*retained, *new), (*still_ours, *new, *taken_out)


def _without(these: tuple[str, ...] | str, others: tuple[str, ...] | str) -> tuple[str, ...]:
    if isinstance(these, str) or isinstance(others, str):
        return ()
    return tuple(entry for entry in these if entry not in others)


def _why(key: str, method: str) -> str:
    source = "counted in the documents" if method == "statistics" else f"worded by {method}"
    return source if key == "profile.expertise" else f"{source}; what you added stays"


def _texts(value: object) -> tuple[str, ...]:
    listed = value if isinstance(value, list) else []
    return tuple(entry for entry in listed if isinstance(entry, str))
