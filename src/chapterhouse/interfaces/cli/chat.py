"""The command chat: what was said in a conversation, and the commands within it."""

import shlex
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from chapterhouse import lazy
from chapterhouse.errors import ChapterhouseError, NotFoundError, UsageError
from chapterhouse.files import write_output
from chapterhouse.interfaces.cli.ask import AskInput, AskResult, ask_library, shape, show
from chapterhouse.interfaces.cli.envelope import failure, success, write
from chapterhouse.interfaces.cli.options import (
    Documents,
    Model,
    PersonaName,
    Shelves,
    Tags,
    common,
    destination,
    flag,
    is_marked,
    marked,
    readable,
    readable_names,
    reopening,
)
from chapterhouse.interfaces.cli.search import history_of, opened_source
from chapterhouse.interfaces.cli.session import Outcome, console, opened_library, survive_the_locale
from chapterhouse.presenting.answers import transcript_markdown
from chapterhouse.presenting.blocks import Style, verbatim
from chapterhouse.presenting.styled import one_line

if TYPE_CHECKING:
    from rich.console import Console

    from chapterhouse.answering import request
    from chapterhouse.library import Library
else:
    request = lazy("chapterhouse.answering.request")

_GREETING: Final = "Ask in your own words. /help shows what else there is; Ctrl-D ends."
_HISTORY: Final = 1_000  # lines
_COMMANDS: Final[Mapping[str, str]] = {
    "/sources": "show the sources of the last answer with their quotations",
    "/open N": "open a source of the last answer",
    "/persona NAME": "ask a persona; without a name, the library",
    "/model NAME": "let a model of the settings write; “none” only quotes",
    "/save FILE": "write what was asked and answered as Markdown, with its sources",
    "/forget [ID ...]": "begin another subject; with ids, forget these memories for good",
    "/help": "show this",
    "/quit": "end, as Ctrl-D does",
}


class Conversation:
    """What was asked and answered one after the other, and whom the next question is put to."""

    def __init__(self, library: "Library", asking: AskInput, options: str, *, json: bool) -> None:
        """Begin; ``options`` are those that a command needs to open the same library."""
        self.is_over = False
        self._library = library
        self._asking = asking
        self._options = options
        self._json = json
        self._questions: list[AskResult] = []
        self._subject = 0  # place of the first turn that still counts

    @property
    def name(self) -> str:
        """Whom the next question is put to; empty for the library itself."""
        return self._asking.persona

    @cached_property
    def _target(self) -> "Console":
        survive_the_locale()
        return console()

    def take(self, line: str) -> None:
        """Answer a question, or follow a command.

        Raises:
            ChapterhouseError: that cannot be done; the conversation goes on.
        """
        text = readable(line).strip()
        if not text:
            return
        if not text.startswith("/"):
            self._ask(text)
            return
        name, *words = _words(text)
        commands: Mapping[str, Callable[[Sequence[str]], None]] = {
            "/sources": self._show_sources,
            "/open": self._open,
            "/persona": lambda words: self.speak_to(" ".join(words)),
            "/model": self._choose_model,
            "/save": self._save,
            "/forget": self._forget,
            "/help": self._help,
            "/quit": self._end,
            "/exit": self._end,
        }
        if name not in commands:
            raise UsageError(f"There is no command {name}.", hint="/help shows those that are.")
        commands[name](words)

    def fail(self, kind: str, error: ChapterhouseError) -> None:
        """Say what could not be done."""
        if self._json:
            write(failure(kind, error.message, error.hint, workspace=self._library.workspace))
            return
        sys.stdout.flush()
        for line in filter(None, (error.message, error.hint)):
            typer.echo(one_line(line), err=True)

    # --- questions -----------------------------------------------------------------------------

    def _ask(self, text: str) -> None:
        began = time.monotonic()
        before = [asked.turn for asked in self._questions[self._subject :]]
        asked = ask_library(self._library, text, self._asking, before)
        self._questions.append(asked)
        self._show(asked, seconds=time.monotonic() - began)
        if not self._json:
            self._target.print()

    def _show(self, asked: AskResult, *, seconds: float = 0.0, detailed: bool = False) -> None:
        shown = partial(show, asked=asked, options=self._options, detailed=detailed)
        self._print(Outcome(shape(asked), shown), seconds)

    def _print(self, outcome: Outcome, seconds: float = 0.0) -> None:
        if self._json:
            write(success(outcome.data, workspace=self._library.workspace, seconds=seconds))
        else:
            outcome.print_to(self._target)

    def _last(self) -> AskResult:
        if not self._questions:
            raise NotFoundError("No question is kept here.", hint="Ask first.")
        return self._questions[-1]

    # --- commands ------------------------------------------------------------------------------

    def speak_to(self, name: str) -> None:
        """Put the next questions to a persona, or to the library where no name is given."""
        if name and (self._asking.shelves or self._asking.documents):
            raise UsageError(
                "A persona reads their own shelves.",
                hint="Name a persona, or shelves and documents, not both.",
            )
        slug = self._library.personas.load(name).config.slug if name else ""
        self._asking = replace(self._asking, persona=slug)
        self._say("persona", slug, f"Asking {slug or 'the library'}.", quiet=not self._questions)

    def _show_sources(self, _words: Sequence[str]) -> None:
        self._show(self._last(), detailed=True)

    def _open(self, words: Sequence[str]) -> None:
        number = words[0] if words else "1"
        if not number.isdecimal():
            raise UsageError(f"'{number}' is no number of a source.", hint="Like: /open 2")
        may_open = not self._json and sys.stdout.isatty()
        self._print(opened_source(self._library, int(number), may_open=may_open))

    def _choose_model(self, words: Sequence[str]) -> None:
        names = (request.NO_MODEL, *self._library.settings.models)
        if words and words[0] not in names:
            raise UsageError(
                f"The settings have no model '{words[0]}'.", hint=f"Known: {', '.join(names)}"
            )
        if words:
            self._asking = replace(self._asking, model=words[0])
        own = self._library.settings.language_model.model or request.NO_MODEL
        name = self._asking.model or f"{own}, as set"
        self._say("model", name, f"Model: {name}. Models: {', '.join(names)}.")

    def _save(self, words: Sequence[str]) -> None:
        self._last()
        if len(words) != 1:
            raise UsageError("Name one file.", hint="Like: /save conversation.md")
        path = destination(words[0], "The conversation", "/save conversation.md", is_marked)
        turns = [(asked.question, asked.answer) for asked in self._questions]
        write_output(path, marked(transcript_markdown(turns)))
        self._say("saved", str(path), f"Saved to {path}.")

    def _forget(self, ids: Sequence[str]) -> None:
        self._subject = len(self._questions)
        count = self._library.memory.forget(ids) if ids else 0
        text = f"Forgot {', '.join(ids)}." if ids else "The next question begins another subject."
        self._say("forgotten", count, text)

    def _help(self, _words: Sequence[str]) -> None:
        lines = (verbatim((f"{name:<18}", Style.STRONG), what) for name, what in _COMMANDS.items())
        self._print(Outcome({"commands": dict(_COMMANDS)}, lines))

    def _end(self, _words: Sequence[str]) -> None:
        self.is_over = True

    def _say(self, name: str, value: object, sentence: str, *, quiet: bool = False) -> None:
        shown = () if quiet else (verbatim((one_line(sentence), Style.QUIET)),)
        self._print(Outcome({name: value}, shown))


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:  # a quotation mark that is not closed
        return text.split()


# --- the command --------------------------------------------------------------------------------


def chat(
    *,
    persona: PersonaName = "",
    shelf: Shelves = None,
    document: Documents = None,
    tag: Tags = None,
    model: Model = None,
    forget: Annotated[bool, flag("--no-memory", "Do not remember questions and answers.")] = False,
) -> Outcome:
    """Ask one question after the other; each may go on from the one before.

    Each line is a question, or a command such as /help. Off a terminal lines are read from
    standard input; with --json each answer is one JSON object on its own line.
    """
    asking = AskInput(
        persona,
        tuple(shelf) if shelf else None,
        tuple(tag or ()),
        model=model,
        remember=not forget,
        documents=readable_names(document),
    )

    with opened_library() as library:
        conversation = Conversation(library, asking, reopening(), json=common().json)
        if persona:
            conversation.speak_to(persona)
        on_terminal = sys.stdin.isatty() and sys.stdout.isatty()
        history = None if forget else history_of(library.folder)
        with _line_editing(history) if on_terminal else nullcontext():
            _converse(conversation, on_terminal=on_terminal)
        return Outcome(None, (), is_reported=True)


def _converse(conversation: Conversation, *, on_terminal: bool) -> None:
    """Answer line after line, until one says that it is over."""
    if on_terminal:
        typer.echo(_GREETING)
    while not conversation.is_over:
        try:
            line = input(f"{conversation.name}> " if on_terminal else "")
            if line.strip() and not (on_terminal or common().json):
                typer.echo(f"{conversation.name}> {line.strip()}")
            conversation.take(line)
        except EOFError:
            if on_terminal:
                typer.echo("")
            return
        except ChapterhouseError as error:
            conversation.fail(type(error).__name__, error)
        except KeyboardInterrupt as stop:
            if signal.SIGTERM in stop.args:
                raise
            typer.echo("" if on_terminal else "Stopped.", err=True)


@contextmanager
def _line_editing(history: Path | None) -> Iterator[None]:
    """Let lines be edited and called up again; those of a history file, where one is kept."""
    try:
        import readline  # noqa: PLC0415 - not everywhere, and for terminals only
    except ImportError:
        yield
        return
    readline.set_auto_history(True)
    if history is None:
        yield
        return
    readline.set_history_length(_HISTORY)
    with suppress(OSError):  # there is none yet
        readline.read_history_file(history)
    try:
        yield
    finally:
        with suppress(OSError):  # a library that cannot be written to still answers
            history.touch(mode=0o600)
            readline.write_history_file(history)
