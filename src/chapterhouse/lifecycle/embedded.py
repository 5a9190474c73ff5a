"""Whether the vectors of a library are those of the embedder that its settings name."""

from chapterhouse.errors import UsageError
from chapterhouse.models.no_embedder import NoEmbedder
from chapterhouse.protocols import Embedder, Store


def foreign_vectors(store: Store, embedder: Embedder) -> str:
    """Return a warning where some documents have only vectors of another embedder, or nothing.

    They are found by their words alone until they are read again.

    Args:
        store: The truth.
        embedder: What questions are embedded with.

    Raises:
        UsageError: no document has vectors of this embedder and some have another's.
    """
    if isinstance(embedder, NoEmbedder):
        return ""
    counts = store.fingerprints()
    own = counts.get(embedder.fingerprint, 0)
    others = {name: number for name, number in counts.items() if name != embedder.fingerprint}
    if not others:
        return ""
    number = sum(others.values())
    sentence = (
        f"{number:,} of {number + own:,} documents with vectors have them from another embedder "
        f"({', '.join(others)}) than the settings name ({embedder.fingerprint})"
    )
    if not own:
        raise UsageError(
            f"{sentence}.",
            hint="Make them anew with: chapterhouse docs reprocess, or go back to that embedder "
            "in the settings; engine = 'none' searches without.",
        )
    return f"{sentence}; they are found by their words alone until: chapterhouse docs reprocess."
