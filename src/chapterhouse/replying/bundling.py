"""The bundle of an answer, with what the library knows of its sources."""

from collections.abc import Mapping
from platform import python_version

from chapterhouse.answering.bundle import Bundle, make_bundle
from chapterhouse.settings import Settings
from chapterhouse.types import Answer
from chapterhouse.wiring import Engines

# What decides an answer; where services are and how patiently they are asked does not.
_SECTIONS = ("chunking", "tokens", "search", "expansion", "packing", "answer")


def bundle_of(
    answer: Answer, engines: Engines, settings: Settings, versions: Mapping[str, str]
) -> Bundle:
    """Return an answer with its sources, and with what it was made with."""
    cited = {citation.document_id for citation in answer.citations}
    cited |= {side.span.document_id for conflict in answer.conflicts for side in conflict.sides}
    found = (engines.store.document(name) for name in sorted(cited))
    tree = settings.model_dump(mode="json")
    return make_bundle(
        answer,
        [document for document in found if document is not None],
        configuration={
            **{name: tree[name] for name in _SECTIONS},
            "embedding": settings.embedding.engine,
            "rerank": settings.rerank.engine,
        },
        versions={**versions, "python": python_version()},
        sequence=engines.store.sequence(),
    )
