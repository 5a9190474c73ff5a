"""The command that asks, and what a conversation shares with it: a question and its answer."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from chapterhouse import lazy
from chapterhouse.interfaces.cli.envelope import plain
from chapterhouse.interfaces.cli.options import (
    Documents,
    Model,
    PersonaName,
    Shelves,
    Tags,
    Trace,
    argument,
    common,
    flag,
    option,
    readable,
    readable_names,
    reopening,
    require_path,
)
from chapterhouse.interfaces.cli.progress import following, show_progress
from chapterhouse.interfaces.cli.search import read_last, remember_answer
from chapterhouse.interfaces.cli.session import (
    NO_ANSWER,
    OK,
    Outcome,
    can_redraw,
    library_class,
    named_home,
    opened_library,
)
from chapterhouse.interfaces.cli.verify import bundle_path, write_bundle
from chapterhouse.presenting import wording
from chapterhouse.presenting.answers import answer_blocks, answer_markdown
from chapterhouse.presenting.blocks import Raw, Style, verbatim
from chapterhouse.presenting.styled import one_line
from chapterhouse.presenting.terminal import draw
from chapterhouse.presenting.terminal import show as show_parts
from chapterhouse.types import Answer, Attachment, FollowUp, Turn
from chapterhouse.types.analytics import day_of

if TYPE_CHECKING:
    from rich.console import Console

    from chapterhouse.answering import request
    from chapterhouse.library import Library, opening
    from chapterhouse.reading import attachments
else:
    request = lazy("chapterhouse.answering.request")
    opening = lazy("chapterhouse.library.opening")
    attachments = lazy("chapterhouse.reading.attachments")


@dataclass(frozen=True, slots=True)
class AskInput:
    """To whom questions are put, and how they are answered; as ``Library.ask`` takes it."""

    persona: str = ""
    shelves: tuple[str, ...] | None = None
    tags: tuple[str, ...] = ()
    words: int | None = None
    model: str | None = None
    remember: bool = True
    use_cache: bool = True
    documents: tuple[str, ...] = ()
    images: tuple[Attachment, ...] = ()


@dataclass(frozen=True, slots=True)
class AskResult:
    """An answer, and how the question was understood where it belongs to a conversation."""

    answer: Answer
    follow_up: FollowUp | None = None

    @property
    def question(self) -> str:
        """The question as it was asked."""
        return self.follow_up.asked if self.follow_up else self.answer.question

    @property
    def turn(self) -> Turn:
        """What a question that follows needs to know of it."""
        return Turn(self.answer.question, self.answer.text or self.answer.notice)


def ask(
    question: Annotated[list[str], argument("QUESTION...", "A question in your own words.")],
    *,
    persona: PersonaName = "",
    shelf: Shelves = None,
    document: Documents = None,
    tag: Tags = None,
    words: Annotated[
        int | None,
        option(
            "--words",
            "N",
            "Longest answer without a model; by default as in the settings.",
            least=10,
            most=2000,
        ),
    ] = None,
    model: Model = None,
    markdown: Annotated[bool, flag("--markdown", "Print Markdown with footnotes.")] = False,
    sources: Annotated[
        bool, flag("--sources", "Show each source with its quotation, characters and checksum.")
    ] = False,
    bundle: Annotated[
        str | None,
        option("--bundle", "FILE", "Write the answer with all that is needed to check it."),
    ] = None,
    forget: Annotated[bool, flag("--no-memory", "Do not remember question and answer.")] = False,
    fresh: Annotated[bool, flag("--fresh", "Write a new answer, even if one is cached.")] = False,
    go_on: Annotated[
        bool, flag("--continue", "Go on from the last question, like “and in winter?”.")
    ] = False,
    file: Annotated[
        list[str] | None,
        option("--file", "PATH", "Ask this file alone, or show an image to the model; repeatable."),
    ] = None,
    trace: Trace = False,  # noqa: ARG001 - for whoever runs the command
) -> Outcome:
    """Answer a question with quotations that were checked.

    Exit code 6 says that the documents hold no answer; what was searched is shown instead.
    """
    if markdown and common().json:
        raise typer.BadParameter("--markdown and --json are two forms of one answer: take one.")
    if file and (go_on or persona or shelf or document):
        raise typer.BadParameter("--file asks these files alone: no --continue, persona or shelf.")
    shelves, remember = tuple(shelf) if shelf else None, not (forget or file)
    asking = AskInput(
        persona,
        shelves,
        tuple(tag or ()),
        words,
        model,
        remember,
        not fresh,
        readable_names(document),
    )
    pictures = _shown_to_model(file or (), model)
    texts = [path for path in file or () if path not in pictures]
    asking = replace(asking, images=tuple(attachments.extract_for_attachment(p) for p in pictures))
    with _files_alone(texts) if file else opened_library() as library:
        path = None if bundle is None else bundle_path(bundle)  # before anything is paid for
        found = (_go_on if go_on else ask_library)(library, " ".join(question), asking)
        if path is not None:
            write_bundle(path, library.answers.bundle(found.answer))
    opens = None if file else reopening()
    return Outcome(
        shape(found),
        [Raw(answer_markdown(found.answer))]
        if markdown
        else partial(show, asked=found, options=opens, detailed=sources),
        OK if found.answer.found else NO_ANSWER,
    )


def _shown_to_model(paths: Sequence[str], model: str | None) -> list[str]:
    """Return the images among files, where a model answers; else they are read like the others."""
    pictures = [path for path in paths if attachments.is_image(require_path(path))]
    if not pictures or model == request.NO_MODEL:
        return []
    settings = opening.resolve_settings(named_home(), common().workspace).settings
    return pictures if model or settings.language_model.engine != "none" else []


@contextmanager
def _files_alone(paths: Sequence[str]) -> Iterator["Library"]:
    """Open a library of these files alone, of which nothing stays."""
    wanted, place = [require_path(path) for path in paths], named_home()
    with ExitStack() as closing:
        with show_progress() as on_event:
            files = library_class().of_files(
                wanted, place, common().workspace, on_progress=on_event
            )
            library = closing.enter_context(files)
        yield library


def _go_on(library: "Library", question: str, asking: AskInput) -> AskResult:
    """Ask what goes on from the last question, whom it was put to unless the options say."""
    last = read_last(library.folder)
    named = bool(asking.persona or asking.shelves or asking.documents)
    asking = replace(
        asking,
        persona=asking.persona if named else last.persona,
        shelves=asking.shelves if named else last.shelves or None,
        tags=asking.tags or last.tags,
        documents=asking.documents if named else last.documents,
    )
    if asking.persona and asking.shelves == last.shelves:  # a search as a persona names both
        asking = replace(asking, shelves=None)
    return ask_library(library, question, asking, [Turn(last.question)], certain=True)


def ask_library(
    library: "Library",
    question: str,
    asking: AskInput,
    before: Sequence[Turn] | None = None,
    *,
    certain: bool = False,
) -> AskResult:
    """Answer a question; ``before`` are the turns of its conversation, oldest first, if it has one.

    Whether it goes on from the last of them is found out, unless it is ``certain``.
    """
    found = None
    if before is not None:
        found = library.answers.follow_up(
            readable(question),
            before,
            persona=asking.persona,
            shelves=asking.shelves,
            model=asking.model,
            remember=asking.remember,
            certain=certain,
        )
    with following() as on_event:
        answer = library.answers.ask(
            found.question if found else readable(question),
            persona=readable(asking.persona),
            shelves=asking.shelves,
            tags=asking.tags,
            words=asking.words,
            model=asking.model,
            remember=asking.remember,
            use_cache=asking.use_cache,
            search_text=found.search_text if found else "",
            in_conversation=found is not None,
            drafts=can_redraw(),
            interface="cli",
            documents=asking.documents,
            images=asking.images,
            on_event=on_event,
        )
    if asking.remember:
        remember_answer(library.folder, answer, asking.shelves or (), asking.tags, asking.documents)
    return AskResult(answer, found)


def shape(asked: AskResult) -> dict[str, object]:
    """Shape an answer, and of a conversation's what was asked and who completed it."""
    found = asked.follow_up
    data: dict[str, object] = plain(asked.answer)
    if found is None:
        return data
    recalled = [memory.id for memory in found.recalled]
    return {**data, "asked": found.asked, "completed_by": found.method, "recalled": recalled}


def show(
    target: "Console", asked: AskResult, options: str | None = "", *, detailed: bool = False
) -> None:
    """Show how a question was taken, where that is not as it was asked, and its answer."""
    if asked.follow_up is not None:
        lines = map(one_line, explain_follow_up(asked.follow_up))
        draw(target, (verbatim((line, Style.QUIET)) for line in lines))
    show_parts(target, answer_blocks(asked.answer), options, detailed=detailed)


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
    recalled = ((one.id, day_of(one.asked), one.question) for one in found.recalled)
    return [*lines, *(f"Reminded of {id_}, {day}: {asked}" for id_, day, asked in recalled)]
