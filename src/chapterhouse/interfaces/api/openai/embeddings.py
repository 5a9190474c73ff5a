"""Embeddings: https://platform.openai.com/docs/api-reference/embeddings."""

import base64
from typing import TYPE_CHECKING, Final

from chapterhouse.interfaces.api.openai.bodies import EmbeddingBody
from chapterhouse.interfaces.api.openai.models import EMBEDDINGS, READ, no_model
from chapterhouse.interfaces.api.openai.results import (
    EmbeddingResult,
    EmbeddingsResult,
    EmbeddingUsage,
)
from chapterhouse.interfaces.api.problems import Refusal
from chapterhouse.interfaces.api.routing import router
from chapterhouse.interfaces.api.state import Exchanged
from chapterhouse.library import Library

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

embeddings: Final = router("/v1/embeddings", "openai")
_MOST_INPUTS: Final = 256
_LONGEST_INPUT: Final = 32_000  # characters


@embeddings.post("", openapi_extra=READ)
async def create_embeddings(exchange: Exchanged, body: EmbeddingBody) -> EmbeddingsResult:
    """Return the vectors of texts, of the encoder that questions use now."""
    if body.model != EMBEDDINGS:
        raise no_model(body.model)
    texts = _texts(body)

    def embed(library: Library) -> tuple["NDArray[np.float32]", int]:
        return library.encoders.embed(texts), sum(map(library.encoders.count_tokens, texts))

    vectors, tokens = await exchange.look(embed)
    length = vectors.shape[1]
    if body.dimensions not in (None, length):
        raise Refusal(400, f"The vectors have {length} dimensions and cannot be shortened.")
    is_text = body.encoding_format == "base64"
    return EmbeddingsResult(
        model=EMBEDDINGS,
        data=tuple(
            EmbeddingResult(
                index=number, embedding=_packed(row) if is_text else tuple(row.tolist())
            )
            for number, row in enumerate(vectors)
        ),
        usage=EmbeddingUsage(prompt_tokens=tokens, total_tokens=tokens),
    )


def _texts(body: EmbeddingBody) -> tuple[str, ...]:
    """Return the texts of a request."""
    given = (body.input,) if isinstance(body.input, str) else body.input
    if not 0 < len(given) <= _MOST_INPUTS:
        raise Refusal(400, f"Send 1 to {_MOST_INPUTS} texts at once, not {len(given):,}.")
    texts = tuple(one for one in given if isinstance(one, str))
    if len(texts) < len(given):
        raise Refusal(400, "Send texts as input: numbers of tokens cannot be read here.")
    for number, text in enumerate(texts):
        if not text.strip() or len(text) > _LONGEST_INPUT:
            raise Refusal(400, f"input.{number} must have 1 to {_LONGEST_INPUT:,} characters.")
    return texts


def _packed(row: "NDArray[np.float32]") -> str:
    return base64.b64encode(row.astype("<f4").tobytes()).decode()
