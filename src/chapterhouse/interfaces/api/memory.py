"""The memory over HTTP: what was asked and answered, listed, searched, forgotten."""

import time
from typing import Annotated, Final

from fastapi import Query

from chapterhouse.interfaces.api.routing import needs, router
from chapterhouse.interfaces.api.state import Exchanged
from chapterhouse.interfaces.memory_owners import memory_owners
from chapterhouse.interfaces.schemas import Result
from chapterhouse.library import Library
from chapterhouse.types import Memory
from chapterhouse.types.access import AccessLevel

READ: Final = needs(AccessLevel.READ, whole=True)
WRITE: Final = needs(AccessLevel.WRITE, whole=True)
_MOST: Final = 1_000

memory: Final = router("/api/memory", "memory")
Persona = Annotated[
    str,
    Query(max_length=100, description="A persona's alone; “library” for no persona's; else all."),
]
Council = Annotated[str, Query(max_length=100, description="A council's and its members'.")]
Member = Annotated[str, Query(max_length=100, description="Of the council, this member's alone.")]


class MemoriesResult(Result):
    """Memories: the newest first, or those that fit best."""

    memories: tuple[Memory, ...]


class ForgottenResult(Result):
    """How many memories were forgotten."""

    forgotten: int


@memory.get("", openapi_extra=READ)
async def list_memories(
    exchange: Exchanged,
    text: Annotated[str, Query(max_length=1_000, description="Words to search for.")] = "",
    persona: Persona = "",
    council: Council = "",
    member: Member = "",
    limit: Annotated[int, Query(ge=1, le=_MOST)] = 50,
) -> MemoriesResult:
    """List what is remembered, newest first; with ``text`` what fits it, best first."""

    def find(library: Library) -> tuple[Memory, ...]:
        owners, now = memory_owners(library, persona, council, member), int(time.time())
        if not text.strip():
            return tuple(library.memory.memories(owners, limit, now))
        return tuple(hit.memory for hit in library.memory.search(text, owners, limit, now))

    return MemoriesResult(memories=await exchange.look(find))


@memory.delete("/{memory_id}", openapi_extra=WRITE)
async def forget(exchange: Exchanged, memory_id: str) -> ForgottenResult:
    """Forget a memory for good."""
    count = await exchange.change(
        "memory.forget", memory_id, lambda library: library.memory.forget((memory_id,))
    )
    return ForgottenResult(forgotten=count)


@memory.delete("", openapi_extra=WRITE)
async def forget_all(
    exchange: Exchanged,
    before: Annotated[
        int, Query(ge=0, le=2**53, description="Only what was asked before, in seconds since 1970.")
    ],
    persona: Persona = "",
    council: Council = "",
    member: Member = "",
) -> ForgottenResult:
    """Forget all that was asked before a time, of everybody or of those who are named, for good."""

    def work(library: Library) -> int:
        owners = memory_owners(library, persona, council, member)
        return library.memory.forget_all(owners, before)

    count = await exchange.change("memory.forget", persona or council, work)
    return ForgottenResult(forgotten=count)
