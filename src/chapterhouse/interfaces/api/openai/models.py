"""Models as clients list and name them: the library, each persona and council, the embedder.

Its embeddings: https://platform.openai.com/docs/api-reference/embeddings.
"""

import base64
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from chapterhouse.interfaces.api.openai.conversation import EmbeddingBody
from chapterhouse.interfaces.api.openai.results import (
    EmbeddingResult,
    EmbeddingsResult,
    EmbeddingUsage,
    ModelResult,
    ModelsResult,
)
from chapterhouse.interfaces.api.problems import Refusal
from chapterhouse.interfaces.api.routing import needs, router
from chapterhouse.interfaces.api.state import Exchange, Exchanged
from chapterhouse.library import Library
from chapterhouse.types.access import AccessLevel

LIBRARY: Final = "chapterhouse"
EMBEDDINGS: Final = "chapterhouse-embeddings"
READ: Final = needs(AccessLevel.READ)
models: Final = router("/v1/models", "openai")

Kind = Literal["library", "persona", "council"]


@dataclass(frozen=True, slots=True)
class Target:
    """Who is asked.

    Attributes:
        slug: Of the persona or the council; empty for the library.
    """

    id: str
    kind: Kind
    slug: str = ""


@models.get("", openapi_extra=READ)
async def list_models(exchange: Exchanged) -> ModelsResult:
    """List who can be asked, and the embedder."""
    return ModelsResult(data=await exchange.look(lambda library: tuple(_models(library, exchange))))


@models.get("/{model:path}", openapi_extra=READ)
async def show_model(exchange: Exchanged, model: str) -> ModelResult:
    """Show one of those who can be asked."""
    found = await list_models(exchange)
    one = next((one for one in found.data if one.id == model), None)
    if one is None:
        raise no_model(model)
    return one


async def target_of(exchange: Exchange, model: str) -> Target:
    """Return whom a model's id names."""
    kind, _, slug = model.partition("/")
    if model == LIBRARY:
        return Target(model, "library")
    if kind == "persona" and exchange.caller.grant.permits_persona(slug):
        names = await exchange.look(lambda library: library.personas.names())
        if slug in names:
            return Target(model, "persona", slug)
    if kind == "council":
        names = await exchange.look(lambda library: library.councils.names())
        if slug in names:
            return Target(model, "council", slug)
    raise no_model(model)


def no_model(model: str) -> Refusal:
    """Return what is raised for a model that is not there, or not for this caller."""
    return Refusal(
        404,
        f"The model '{model[:100]}' does not exist or you do not have access to it.",
        hint="The list of models has those that you can ask.",
        code="model_not_found",
    )


def _models(library: Library, exchange: Exchange) -> Iterator[ModelResult]:
    yield ModelResult(id=LIBRARY, name="Chapterhouse")
    for persona in library.personas.all():
        if persona.folder and exchange.caller.grant.permits_persona(persona.slug):
            name = persona.folder.persona.display_name
            yield ModelResult(id=f"persona/{persona.slug}", name=name)
    for council in library.councils.all():
        if council.folder and not council.problems:
            title = council.folder.council.title
            yield ModelResult(id=f"council/{council.slug}", name=title)
    if library.settings.embedding.engine != "none":
        yield ModelResult(id=EMBEDDINGS, name="Chapterhouse embeddings")


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
