"""Whose memories are meant: a persona's, a council's, a member's, the library's own, or all."""

from chapterhouse.council.meeting import memory
from chapterhouse.errors import NotFoundError, UsageError
from chapterhouse.library import Library

LIBRARY = "library"  # how the library's own memories are called, no persona having that name


def memory_owners(
    library: Library, persona: str = "", council: str = "", member: str = ""
) -> tuple[str, ...]:
    """Return whose memories are meant; those of a persona or council that is gone can be named.

    The persona ``library`` is nobody, an empty one all; a council is what it decided and what its
    members held, with the key of a member only what this one held.

    Raises:
        UsageError: both a persona and a council are named, or a member without a council.
        NotFoundError: there is no such persona, council or member.
    """
    if (persona and council) or (member and not council):
        raise UsageError("Name a persona, or a council and perhaps a member of it.")
    known = library.memory.personas()
    if council:
        slug = council if memory.owners_of(council, known) else library.councils.resolve(council)
        if not member:
            return memory.owners_of(slug, known)
        owner = memory.owner_of(slug, member)
        there = slug in library.councils.names()
        members = library.councils.load(slug).council.members if there else ()
        if owner not in known and member not in {one.key for one in members}:
            raise NotFoundError(f"The council '{slug}' has no member '{member}'.")
        return (owner,)
    if not persona:
        return known
    if persona == LIBRARY:
        return ("",)
    if persona in known and not memory.is_council_owner(persona):
        return (persona,)
    return (library.personas.load(persona).config.slug,)
