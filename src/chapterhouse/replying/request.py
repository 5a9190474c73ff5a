"""A question with everything that decides how it is answered."""

from dataclasses import dataclass, field
from typing import Literal

from pydantic import BaseModel

from chapterhouse.agents.persona_config import PersonaConfig
from chapterhouse.answering.choosing import WHOLE, Form
from chapterhouse.asking import named_scope
from chapterhouse.settings import Settings
from chapterhouse.types import Persona, Scope

NO_MODEL = "none"


@dataclass(frozen=True, slots=True)
class Request:
    """A question as it is put to someone.

    Attributes:
        persona: Who is asked; None for the library itself.
        settings: As they hold for this request: the library's, then the persona's.
        scope: Which documents are read.
        tags: What the asker or the persona knows about.
        form: How long an answer without a model may be, and of what it is made.
        max_chunks: Excerpts that a model is given, at most.
        max_tokens: Of all of them together.
        grounding: Whether a model is given excerpts, may search for them, or both.
        model: Name of a profile; empty for the library's own model, ``none`` for no model.
        out_of_scope: What becomes of a question that is not for the persona.
        search_text: What is searched for instead of the question, in a conversation; or empty.
        in_conversation: Whether it belongs to a conversation, in which earlier answers count.
        remember: Whether question and answer are kept in the memory.
        use_kept: Whether an answer that was kept may be given again, and this one be kept; never
            where nothing is to be remembered, for it holds the question.
        may_be_empty: Whether there may be no such shelf yet.
    """

    question: str
    settings: Settings
    scope: Scope
    persona: Persona | None = None
    tags: tuple[str, ...] = ()
    form: Form = field(default=WHOLE, repr=False)  # a function's is another in each process
    max_chunks: int = 12
    max_tokens: int = 2_000
    grounding: Literal["inject", "tool", "both"] = "inject"
    model: str = ""
    out_of_scope: Literal["defer", "general", "persona"] = "defer"
    search_text: str = ""
    in_conversation: bool = False
    remember: bool = True
    use_kept: bool = True
    may_be_empty: bool = False


@dataclass(frozen=True, slots=True)
class Choices:
    """What a caller says about one question; None leaves it to the persona and the settings."""

    shelves: tuple[str, ...] | None = None
    tags: tuple[str, ...] = ()
    words: int | None = None
    model: str | None = None
    remember: bool = True
    use_kept: bool = True
    search_text: str = ""
    in_conversation: bool = False


def library_request(question: str, settings: Settings, choices: Choices) -> Request:
    """Return the request of a question to the library itself."""
    remember = choices.remember and settings.memory.enabled
    return Request(
        question=question,
        settings=settings,
        scope=named_scope(choices.shelves),
        tags=choices.tags,
        form=Form(choices.words or settings.answer.words),
        max_tokens=settings.packing.maximum,
        model=choices.model or "",
        search_text=choices.search_text,
        in_conversation=choices.in_conversation,
        remember=remember,
        use_kept=choices.use_kept and remember and settings.answer.cache,
    )


def persona_request(
    question: str, persona: Persona, config: PersonaConfig, settings: Settings, choices: Choices
) -> Request:
    """Return the request of a question to a persona, who reads their own shelves only."""
    own = persona_settings(settings, config)
    remember = choices.remember and own.memory.enabled
    return Request(
        question=question,
        settings=own,
        persona=persona,
        scope=Scope.of(persona.reads),
        tags=tuple(dict.fromkeys((*persona.tags, *choices.tags))),
        form=Form(choices.words or own.answer.words),
        max_chunks=config.retrieval.max_chunks,
        max_tokens=own.packing.maximum,
        grounding=config.grounding,
        model=config.model if choices.model is None else choices.model,
        out_of_scope=config.out_of_scope,
        search_text=choices.search_text,
        in_conversation=choices.in_conversation,
        remember=remember,
        use_kept=choices.use_kept and remember and own.answer.cache,
        may_be_empty=True,
    )


def persona_settings(settings: Settings, config: PersonaConfig) -> Settings:
    """Return the library's settings with what a persona has otherwise."""
    chosen = config.retrieval
    search = _changed(
        settings.search,
        vector_threshold=chosen.vector_threshold,
        bm25_min_score=chosen.bm25_min_score,
        min_similarity=chosen.min_similarity,
        per_document=chosen.per_document,
        recency=chosen.recency,
    )
    memory = config.memory
    return settings.model_copy(
        update={
            "search": search,
            "packing": _changed(settings.packing, maximum=chosen.max_tokens),
            "memory": _changed(
                settings.memory, enabled=memory.enabled, days=memory.days, recall=memory.recall
            ),
            "answer": _changed(settings.answer, words=config.answer.words),
        }
    )


def _changed(part: BaseModel, **values: float | None) -> BaseModel:
    """Return a section of the settings with those values that are not None."""
    known = {name: value for name, value in values.items() if value is not None}
    return part.model_copy(update=known)
