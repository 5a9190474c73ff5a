"""What every embedder does with the numbers a model gave."""

import numpy as np
from numpy.typing import NDArray

from chapterhouse.errors import EngineError

MAXIMUM_CHARACTERS = 20_000  # of a text that is embedded: far above any chunk


def unit_rows(vectors: NDArray[np.floating]) -> NDArray[np.float32]:
    """Return vectors scaled to length 1, shape as given; those of length 0 stay.

    Raises:
        EngineError: a number is not finite.
    """
    wide = vectors.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    if not np.isfinite(lengths).all():
        raise EngineError(
            "The embedding model gave numbers that are not finite.",
            hint="Its files or its service are damaged; try another model.",
        )
    scaled: NDArray[np.float32] = (wide / np.where(lengths, lengths, 1.0)).astype(np.float32)
    return scaled


def fitted(vectors: NDArray[np.floating], dimensions: int, *, cut: bool) -> NDArray[np.float32]:
    """Return unit vectors of ``dimensions`` numbers.

    Args:
        vectors: Shape (n, what the model gives).
        dimensions: What is wanted; 0 for what the model gives.
        cut: Whether longer vectors may be cut, as models allow that were trained so
            (Matryoshka representation learning, https://arxiv.org/abs/2205.13147).

    Raises:
        EngineError: the model gives vectors of another length.
    """
    given = vectors.shape[1]
    if dimensions and given != dimensions and not (cut and given > dimensions):
        raise EngineError(
            f"The embedding model gives vectors of {given} numbers, not {dimensions}.",
            hint=f"If it is the right model, set embedding.dimensions to {given}.",
        )
    return unit_rows(vectors[:, : dimensions or given])


def treatment(
    dimensions: int, question_prefix: str, passage_prefix: str, *, shortened: bool = False
) -> str:
    """Return the end of a fingerprint: what is done around a model."""
    parts = [f"{dimensions}{'-cut' if shortened else ''}"]
    if question_prefix or passage_prefix:
        parts += [f"question={question_prefix!r}", f"passage={passage_prefix!r}"]
    return "/".join(parts)
