"""Whose documents answer what: each question, asked of everyone who sees a part of a library."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from chapterhouse.answering.request import NO_MODEL
from chapterhouse.council.meeting.session import member_shelves
from chapterhouse.errors import UsageError
from chapterhouse.evaluation.measuring import holds
from chapterhouse.evaluation.questions import Question
from chapterhouse.library import Library
from chapterhouse.types import Answer, AnswerOutcome, Progress, Scope


class Reach(StrEnum):
    """What a question comes to for one reader."""

    ANSWERS = "answers"
    LACKS = "lacks"  # a document answers that they do not see
    MISSES = "misses"  # they see the documents that answer, and get no answer
    NOBODY = "nobody"  # the whole library does not answer either


@dataclass(frozen=True, slots=True)
class Reader:
    """Somebody who sees a part of a library.

    Attributes:
        library: As they see it.
        persona: Who answers for them, by the persona's settings; empty for the library itself.
    """

    name: str
    library: Library
    persona: str = ""


@dataclass(frozen=True, slots=True)
class ReaderQuestion:
    """A question with what it comes to for each reader, by their names.

    Attributes:
        documents: Sources that the answer of the whole library cites.
    """

    question: str
    documents: tuple[str, ...]
    reach: Mapping[str, Reach]
    lacking: Mapping[str, tuple[str, ...]]


def persona_readers(library: Library, names: Sequence[str]) -> Iterator[Reader]:
    """Yield personas, each with their shelves."""
    for name in names:
        persona = library.personas.load(name).persona
        yield Reader(persona.slug, library.within(Scope.of(persona.reads)), persona.slug)


def member_readers(library: Library, council: str) -> Iterator[Reader]:
    """Yield the members of a council, each with what they read in it; councils are left out."""
    found = library.councils.load(council).council
    for member in found.members:
        if not member.council:
            shelves = member_shelves(found, member, library.personas)
            yield Reader(member.key, library.within(Scope.of(shelves)))


def compare_readers(
    questions: Sequence[Question],
    library: Library,
    readers: Sequence[Reader],
    on_progress: Callable[[Progress], None] = lambda _: None,
) -> tuple[ReaderQuestion, ...]:
    """Ask each question of every reader and of the whole library, without a model."""
    names = [reader.name for reader in readers]
    if not readers or len(set(names)) < len(names):
        raise UsageError("Name readers, each once.")
    found = []
    for number, question in enumerate(questions, start=1):
        on_progress(Progress(number, len(questions), question.question))
        found.append(_compare(question, library, readers))
    return tuple(found)


def _compare(question: Question, library: Library, readers: Sequence[Reader]) -> ReaderQuestion:
    whole = library.answers.ask(question.question, model=NO_MODEL, remember=False)
    cited = {one.document_id: one.source for one in whole.citations}
    answered = _answers(whole, question)
    reach, lacking = dict[str, Reach](), dict[str, tuple[str, ...]]()
    for reader in readers:
        answer = reader.library.answers.ask(
            question.question, persona=reader.persona, model=NO_MODEL, remember=False
        )
        seen = reader.library.documents.by_ids(cited)
        hidden = tuple(source for name, source in cited.items() if name not in seen)
        if _answers(answer, question):
            reach[reader.name] = Reach.ANSWERS
        elif not answered:
            reach[reader.name] = Reach.NOBODY
        else:
            reach[reader.name] = Reach.LACKS if hidden else Reach.MISSES
            lacking[reader.name] = hidden
    documents = tuple(dict.fromkeys(cited.values())) if answered else ()
    return ReaderQuestion(question.question, documents, reach, lacking)


def _answers(answer: Answer, question: Question) -> bool:
    """Whether an answer leads, with the text that the question's file expects, if it does."""
    texts = [one.text for one in answer.sentences]
    expected = not question.answer or any(holds(text, question.answer) for text in texts)
    return answer.outcome is AnswerOutcome.ANSWER and expected
