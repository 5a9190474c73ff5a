"""Answers: questions to the library or to a persona."""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import TYPE_CHECKING, Final

from chapterhouse import lazy
from chapterhouse.agents.ask import ask_events, follow_up, persona_settings
from chapterhouse.answering.bundle import ANSWER, Bundle, bundle_of
from chapterhouse.answering.cite import CitationCheck
from chapterhouse.answering.memory import remembered_answer
from chapterhouse.answering.request import AskOptions
from chapterhouse.answering.runtime import Runtime
from chapterhouse.concurrency import last, run_sync
from chapterhouse.types import Answer, AnswerEvent, AskEvent, Attachment, FollowUp, Memory, Turn

if TYPE_CHECKING:
    from chapterhouse.agents import personas
    from chapterhouse.council.minutes import bundle as minutes
else:
    personas = lazy("chapterhouse.agents.personas")
    minutes = lazy("chapterhouse.council.minutes.bundle")

_NO_OPTIONS: Final = AskOptions()


async def answer_of(
    events: AsyncIterator[AskEvent], on_event: Callable[[AskEvent], None] | None = None
) -> Answer:
    """Return the answer with which ``Answers.events`` end, after each of them was told."""
    event = await last(events, on_event)
    assert isinstance(event, AnswerEvent)
    return event.answer


class Answers:
    """Answers questions from the documents of a workspace."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    def ask(
        self,
        question: str,
        *,
        persona: str = "",
        shelves: Sequence[str] | None = None,
        tags: Sequence[str] = (),
        words: int | None = None,
        model: str | None = None,
        remember: bool = True,
        use_cache: bool = True,
        search_text: str = "",
        in_conversation: bool = False,
        drafts: bool = True,
        interface: str = "python",
        documents: Sequence[str] = (),
        images: Sequence[Attachment] = (),
        on_event: Callable[[AskEvent], None] | None = None,
    ) -> Answer:
        """Answer from the documents, every sentence with a verified citation, or say why not.

        Args:
            persona: Who is asked: a slug, its beginning, or a name. They read their own shelves,
                brought up to date with their folders first. Empty for the library itself.
            shelves: Only documents on one of these; all when None. Not with a persona.
            words: At most so many words without a model; the setting when None.
            model: A model of the settings, ``none`` for quotations alone; when None the
                persona's, else the library's.
            remember: Whether question and answer go into the memory, if the settings have one.
            use_cache: Whether an answer may be given that was written before.
            search_text: What is searched for instead of the question, as ``follow_up`` says.
            in_conversation: Whether a model is reminded of earlier answers, unless the settings
                say otherwise.
            drafts: Whether events tell what a model has written so far, checked.
            interface: As which analytics count the question; where it may not be remembered they
                do not.
            documents: Names of documents and of folders, which alone are asked. Not with a persona.
            images: Shown to the model, as ``extract_for_attachment`` gives them.

        Raises:
            UsageError: the question is empty, a number is out of range, there is no such model.
            NotFoundError: there is no such persona, shelf or document.
            MissingExtraError: its key is in a keyring, and the library for that is missing.
        """
        options = AskOptions(
            None if shelves is None else tuple(shelves),
            tuple(tags),
            words,
            model,
            remember,
            use_cache,
            search_text,
            in_conversation,
            drafts and on_event is not None,
            interface=interface,
            documents=tuple(documents),
            images=tuple(images),
        )
        return run_sync(
            answer_of(self.events(question, persona=persona, options=options), on_event)
        )

    def events(
        self, question: str, *, persona: str = "", options: AskOptions = _NO_OPTIONS
    ) -> AsyncIterator[AskEvent]:
        """Yield what happens while a question is answered, the answer last; errors as ``ask``.

        Who stops reading stops the work.
        """
        return ask_events(question, persona, options, self._runtime)

    def follow_up(
        self,
        question: str,
        before: Sequence[Turn],
        *,
        persona: str = "",
        shelves: Sequence[str] | None = None,
        model: str | None = None,
        remember: bool = True,
        certain: bool = False,
    ) -> FollowUp:
        """Return a question of a conversation as it can be understood by itself, to be asked.

        Parameters and errors are those of ``ask``; without ``remember`` nothing is recalled either.
        A model rewrites it; without one, words of the last turn are carried over, where it may go
        on from that and does not find its subject by itself.

        Args:
            before: The turns before it, oldest first, as they were understood.
            certain: Whether it is known to go on from the last turn.
        """
        options = AskOptions(
            None if shelves is None else tuple(shelves),
            model=model,
            remember=remember,
            in_conversation=True,
        )
        asked = follow_up(question, before, persona, options, self._runtime, certain=certain)
        return run_sync(asked)

    def bundle(self, answer: Answer) -> Bundle[Answer]:
        """Return an answer with all that another person needs to check it."""
        runtime, settings, persona = self._runtime, self._runtime.settings, None
        if answer.persona:
            config = personas.Personas(runtime).load(answer.persona).config
            settings = persona_settings(settings, config)
            persona = config.model_dump(mode="json")
        model = "" if answer.usage is None else answer.method
        made_with = {"model": model, "persona": persona}
        return bundle_of(answer, ANSWER, runtime, settings, made_with)

    def remembered(self, memory_id: str, personas: Sequence[str]) -> tuple[Memory, Answer | None]:
        """Return a memory, and its answer as it was given; None where only its text is known.

        A citation is verified where its quotation still stands in its place. Headings that came
        nearest and documents that were read in part are not remembered.

        Args:
            personas: Whose memories may be seen.

        Raises:
            UsageError: the id is none.
            NotFoundError: ``personas`` have no such memory.
        """
        return remembered_answer(memory_id, personas, self._runtime)

    def recheck(self, answer: Answer) -> tuple[CitationCheck, ...]:
        """Say for each citation of an old answer what has become of its source.

        Personas and councils on whose shelves the documents stand read what changed first. A
        document whose file has changed and was not read since is compared as the file is now.
        """
        return minutes.recheck(answer.citations, self._runtime)
