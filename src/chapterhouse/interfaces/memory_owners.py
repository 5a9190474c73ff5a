"""Whose memories are meant: a persona's, a council's, a member's, the library's own, or all."""

from chapterhouse.council.meeting import memory
from chapterhouse.errors import NotFoundError, UsageError
from chapterhouse.library import Library

LIBRARY = "library"  # how the library's own memories are called, no persona having that name


def memory_owners(
    library: Library, persona: str = "", council: str = "", member: str = ""
) -> tuple[str, ...]:
    """Return whose memories are meant; those of a persona or council that is gone can be named.

    Args:
        library: Whose memories.
        persona: A name; ``library`` for nobody's; empty for all.
        council: A name: what it decided, and what its members held.
        member: A key: of this council only what this member held.

    Raises:
        UsageError: both a persona and a council are named, or a member without a council.
        NotFoundError: there is no such persona, council or member.
    """
    if persona and council:
        raise UsageError("Name a persona or a council, not both.")
    if member and not council:
        raise UsageError("Members are a council's: name the council, too.")
    known = library.memory.personas()
    if council:
        return _council_owners(library, known, council, member)
    if not persona:
        return known
    if persona == LIBRARY:
        return ("",)
    if persona in known and not memory.is_council_owner(persona):
        return (persona,)
    return (library.personas.load(persona).config.slug,)


def _council_owners(
    library: Library, known: tuple[str, ...], council: str, member: str
) -> tuple[str, ...]:
    slug = council if memory.owners_of(council, known) else library.councils.resolve(council)
    remembered = memory.owners_of(slug, known)
    if not member:
        return remembered
    wanted = memory.owner_of(slug, member)
    if wanted not in remembered and member not in _member_keys(library, slug):
        there = ", ".join(owner.partition("/")[2] for owner in remembered if "/" in owner)
        raise NotFoundError(
            f"The council '{slug}' has no member '{member}'.",
            hint=f"Remembered are: {there}" if there else "Nothing is remembered of its members.",
        )
    return (wanted,)


def _member_keys(library: Library, slug: str) -> tuple[str, ...]:
    """Return the keys of a council's members; none where it is gone."""
    if slug not in library.councils.names():
        return ()
    return tuple(member.key for member in library.councils.load(slug).council.members)
