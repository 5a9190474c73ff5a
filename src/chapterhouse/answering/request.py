"""A question with everything that decides how it is answered."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from chapterhouse.answering.choosing import WHOLE, Form
from chapterhouse.answering.search import named_scope
from chapterhouse.settings import Settings
from chapterhouse.types import Attachment, Draft, Persona, Scope, Tool, ToolText, Usage, WantedCall

NO_MODEL = "none"
OnDraft = Callable[[Draft], None]


@dataclass(frozen=True, slots=True)
class Request:
    """A question as it is put to someone.

    Attributes:
        persona: Who is asked; None for the library itself.
        settings: As they hold for this request: the library's, then the persona's.
        form: How long an answer without a model may be, and of what it is made.
        max_chunks: Excerpts that a model is given, at most.
        grounding: Whether a model is given excerpts, may search for them, or both.
        model: Name of one; empty for the library's own model, ``none`` for no model.
        documents: Names of those, and of folders, that alone are read; None for all in the scope.
        search_text: What is searched for instead of the question, in a conversation; or empty.
        in_conversation: Whether it belongs to a conversation, in which earlier answers count.
        use_cache: Whether an answer that was kept may be given again, and this one be kept; never
            where nothing is to be remembered, for it holds the question.
        may_be_empty: Whether there may be no such shelf yet.
        tools: Those of the asker's program, which a model may want called.
        tool_texts: What such tools returned for this question; it can be cited.
        images: Shown to a model beside its sources; nothing on them can be cited.
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
    use_cache: bool = True
    may_be_empty: bool = False
    tools: tuple[Tool, ...] = ()
    tool_texts: tuple[ToolText, ...] = ()
    images: tuple[Attachment, ...] = ()
    documents: frozenset[str] | None = None

    @property
    def brings_more(self) -> bool:
        """Whether a model may answer from what the asker brings where no document does."""
        return bool(self.tools or self.tool_texts or self.images)

    @property
    def owner(self) -> str:
        """Whose the memory of it is: the persona's, or the library's, which has no name."""
        return self.persona.slug if self.persona else ""


@dataclass(frozen=True, slots=True)
class AskOptions:
    """What a caller says about one question; None leaves it to the persona and the settings.

    Attributes:
        drafts: Whether the events of the answer tell what a model has written so far.
        interface: By which the question comes: ``python``, ``cli``, ``mcp``, ``api``, ``openai``.
        counted: Whether analytics count it; None: where it may be remembered.
        tools: As of ``Request``, all external. Where a model wants one called, asking raises
            ``ToolCallsWanted``. Without a model they are ignored.
        documents: Names of those, and of folders, that alone are asked; empty for all.
        images: As of ``Request``; without a model they are refused.
    """

    shelves: tuple[str, ...] | None = None
    tags: tuple[str, ...] = ()
    words: int | None = None
    model: str | None = None
    remember: bool = True
    use_cache: bool = True
    search_text: str = ""
    in_conversation: bool = False
    drafts: bool = True
    interface: str = "python"
    counted: bool | None = None
    tools: tuple[Tool, ...] = ()
    tool_texts: tuple[ToolText, ...] = ()
    documents: tuple[str, ...] = ()
    images: tuple[Attachment, ...] = ()

    @property
    def is_counted(self) -> bool:
        """Whether analytics count the question."""
        return self.remember if self.counted is None else self.counted

    @property
    def may_remember(self) -> bool:
        """Whether the answer may be used again: not where it rests on what no document holds."""
        return self.remember and not (self.tools or self.tool_texts or self.images)


class ToolCallsWanted(Exception):  # noqa: N818 - the asker's program goes on from it
    """A model wants tools of the asker's program called before it answers."""

    def __init__(self, calls: tuple[WantedCall, ...], usage: Usage) -> None:
        super().__init__("A model wants tools called.")
        self.calls = calls
        self.usage = usage


def library_request(question: str, settings: Settings, options: AskOptions) -> Request:
    """Return the request of a question to the library itself."""
    remember = options.may_remember and settings.memory.enabled
    return Request(
        question=question,
        settings=settings,
        scope=named_scope(options.shelves),
        tags=options.tags,
        form=Form(options.words or settings.answer.words),
        max_tokens=settings.packing.maximum,
        model=options.model or "",
        search_text=options.search_text,
        in_conversation=options.in_conversation,
        remember=remember,
        use_cache=options.use_cache and remember and settings.answer.cache,
        tools=options.tools,
        tool_texts=options.tool_texts,
        images=options.images,
        documents=frozenset(options.documents) or None,
    )
