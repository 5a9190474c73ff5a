"""Models as clients list and name them: the library, each persona and council, the embedder."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from chapterhouse.interfaces.api.openai.results import ModelResult, ModelsResult
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
