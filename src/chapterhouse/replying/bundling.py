"""The bundle of an answer, with what the library knows of its sources."""

from collections.abc import Iterable, Mapping
from platform import python_version

from chapterhouse.agents.persona_config import PersonaConfig
from chapterhouse.answering.bundle import Bundle, make_bundle
from chapterhouse.replying.request import persona_settings
from chapterhouse.settings import Settings
from chapterhouse.types import Answer, Document, Scope
from chapterhouse.wiring import Engines

# What decides an answer; where services are and how patiently they are asked does not.
_SECTIONS = ("chunking", "tokens", "search", "expansion", "packing", "answer")


def bundle_of(
    answer: Answer,
    engines: Engines,
    settings: Settings,
    config: PersonaConfig | None,
    versions: Mapping[str, str],
) -> Bundle:
    """Return an answer with its sources, and with what it was made with.

    Args:
        answer: The answer.
        engines: Of the library that gave it.
        settings: The library's.
        config: The persona's who answered, if one did.
        versions: Of Chapterhouse and of the models.
    """
    cited = {citation.document_id for citation in answer.citations}
    cited |= {side.span.document_id for conflict in answer.conflicts for side in conflict.sides}
    own = persona_settings(settings, config) if config else settings
    return make_bundle(
        answer,
        documents_of(cited, engines),
        configuration={
            **sections_of(own),
            "embedding": settings.embedding.engine,
            "rerank": settings.rerank.engine,
            "model": "" if answer.usage is None else answer.method,
            "persona": config.model_dump(mode="json") if config else None,
        },
        versions={**versions, "python": python_version()},
        sequence=engines.store.sequence(),
    )


def documents_of(names: Iterable[str], engines: Engines) -> list[Document]:
    """Return those documents of the library that have one of these ids, in order of id."""
    found = (engines.store.document(name, Scope.everything()) for name in sorted(names))
    return [document for document in found if document is not None]


def sections_of(settings: Settings) -> dict[str, object]:
    """Return those settings that decide what is found and how it is answered."""
    tree = settings.model_dump(mode="json")
    return {name: tree[name] for name in _SECTIONS}
