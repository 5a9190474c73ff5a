"""One question put to the library, with what was spoken of before, and what is shown of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from chapterhouse.interfaces.cli.envelope import plain
from chapterhouse.interfaces.cli.opening import remember_answer
from chapterhouse.interfaces.cli.options import readable
from chapterhouse.interfaces.cli.progress import following
from chapterhouse.interfaces.cli.terminal import can_redraw, one_line, say
from chapterhouse.presenting import wording
from chapterhouse.presenting.answers import answer_blocks
from chapterhouse.presenting.terminal import show as blocks
from chapterhouse.types import Answer, FollowUp, Turn

if TYPE_CHECKING:
    from rich.console import Console

    from chapterhouse.library import Library


@dataclass(frozen=True, slots=True)
class Asking:
    """To whom questions are put, and how they are answered; as ``Library.ask`` takes it."""

    persona: str = ""
    shelves: tuple[str, ...] | None = None
    tags: tuple[str, ...] = ()
    words: int | None = None
    model: str | None = None
    remember: bool = True
    use_cache: bool = True


@dataclass(frozen=True, slots=True)
class Asked:
    """An answer, and how the question was understood where it belongs to a conversation."""

    answer: Answer
    follow_up: FollowUp | None = None

    @property
    def turn(self) -> Turn:
        """What a question that follows needs to know of it."""
        return Turn(self.answer.question, self.answer.text or self.answer.notice)


def ask_one(library: "Library", question: str, asking: Asking) -> Asked:
    """Answer a question that belongs to no conversation."""
    return Asked(_answer(library, readable(question), "", asking, in_conversation=False))


def ask_next(
    library: "Library", question: str, asking: Asking, before: Sequence[Turn], *, certain: bool
) -> Asked:
    """Answer a question of a conversation.

    Args:
        library: Where it is put.
        question: As it was typed.
        asking: To whom, and how.
        before: The turns before it, oldest first.
        certain: Whether it is known to go on from the last of them.
    """
    found = library.answers.follow_up(
        readable(question),
        before,
        persona=asking.persona,
        shelves=asking.shelves,
        model=asking.model,
        remember=asking.remember,
        certain=certain,
    )
    text = found.search_text
    return Asked(_answer(library, found.question, text, asking, in_conversation=True), found)


def _answer(
    library: "Library", question: str, search_text: str, asking: Asking, *, in_conversation: bool
) -> Answer:
    with following() as on_event:
        answer = library.answers.ask(
            question,
            persona=readable(asking.persona),
            shelves=asking.shelves,
            tags=asking.tags,
            words=asking.words,
            model=asking.model,
            remember=asking.remember,
            use_cache=asking.use_cache,
            search_text=search_text,
            in_conversation=in_conversation,
            drafts=can_redraw(),
            on_event=on_event,
        )
    if asking.remember:
        remember_answer(library.folder, answer, asking.shelves or (), asking.tags)
    return answer


def shape(asked: Asked) -> dict[str, object]:
    """Shape an answer, and of a conversation's what was asked and who completed it."""
    found = asked.follow_up
    data: dict[str, object] = plain(asked.answer)
    if found is None:
        return data
    recalled = [memory.id for memory in found.recalled]
    return {**data, "asked": found.asked, "completed_by": found.method, "recalled": recalled}


def show(
    target: "Console", asked: Asked, options: str | None = "", *, detailed: bool = False
) -> None:
    """Show how a question was taken, where that is not as it was asked, and its answer."""
    if asked.follow_up is not None:
        for line in explain_follow_up(asked.follow_up):
            say(target, (one_line(line), "dim"))
    blocks(target, answer_blocks(asked.answer), options, detailed=detailed)


def explain_follow_up(found: FollowUp) -> Sequence[str]:
    """Return what a reader is told of how a question of a conversation was understood."""
    lines = []
    used = f" ({wording.usage_text(found.usage)})" if found.usage else ""
    if found.method:
        lines.append(f"Taken as: {found.question}{used}")
    elif used:  # it was paid for, too
        lines.append(f"Taken as it stands{used}")
    if found.warning:
        lines.append(f"The model did not say how the question is meant: {found.warning}")
    for memory in found.recalled:
        day = datetime.fromtimestamp(memory.asked, UTC).date().isoformat()
        lines.append(f"Reminded of {memory.id}, {day}: {memory.question}")
    return lines
