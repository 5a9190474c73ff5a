"""Commands that find passages, and go on from the last question: search, context, open, more.

A small file beside the library holds the question, and where each source is. No text of a document
is in it, so that nothing outlives a document that was removed.

Originals are shown in the system's own viewer: only formats that viewers show, since what a
document holds is never run, and only the very bytes that were read.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import chain
from json import dumps
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Annotated, Final

from pydantic import TypeAdapter, ValidationError

from chapterhouse import lazy
from chapterhouse.errors import NotFoundError
from chapterhouse.interfaces.cli.options import (
    Documents,
    Shelves,
    Tags,
    argument,
    common,
    flag,
    option,
    readable,
    readable_names,
)
from chapterhouse.interfaces.cli.session import NO_ANSWER, OK, Outcome, opened_library
from chapterhouse.presenting.blocks import Raw, Style, TerminalBlock, verbatim
from chapterhouse.presenting.citing import without_title
from chapterhouse.presenting.hits import hits_blocks
from chapterhouse.presenting.styled import one_line
from chapterhouse.presenting.terminal import show as blocks
from chapterhouse.text.counting import counted
from chapterhouse.text.naming import page_name, system_path
from chapterhouse.types import Answer, Body, Context, Document, SearchResult

if TYPE_CHECKING:
    from chapterhouse.answering import prompt
    from chapterhouse.library import Library
    from chapterhouse.retrieval import context as packed_context
else:
    prompt = lazy("chapterhouse.answering.prompt")
    packed_context = lazy("chapterhouse.retrieval.context")

_NAME: Final = "last.json"
_ASK: Final = "Ask first: chapterhouse ask QUESTION"


@dataclass(frozen=True, slots=True)
class LastSource:
    """Where a source stands: characters ``start`` to ``end`` of a text with this checksum."""

    number: int
    document_id: str
    text_sha256: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class LastSearch:
    """A question, to whom and where it was asked, and the sources that were shown."""

    question: str
    persona: str
    shelves: tuple[str, ...]
    tags: tuple[str, ...]
    sources: tuple[LastSource, ...]
    documents: tuple[str, ...] = ()


def remember_answer(
    folder: Path,
    answer: Answer,
    shelves: tuple[str, ...],
    tags: tuple[str, ...],
    documents: tuple[str, ...] = (),
) -> None:
    """Remember an answer's question and sources."""
    sources = tuple(
        LastSource(one.number, one.document_id, one.text_sha256, one.start, one.end)
        for one in answer.citations
    )
    _write(folder, LastSearch(answer.question, answer.persona, shelves, tags, sources, documents))


def remember_hits(folder: Path, result: SearchResult, persona: str = "") -> None:
    """Remember a search and its hits, by rank."""
    sources = tuple(
        LastSource(
            hit.rank, hit.document.id, hit.document.text_sha256, hit.chunk.start, hit.chunk.end
        )
        for hit in result.hits
    )
    query = result.query
    shelves, documents = query.scope.shelves or (), tuple(sorted(query.documents or ()))
    _write(folder, LastSearch(query.text, persona, shelves, query.tags, sources, documents))


def _write(folder: Path, last: LastSearch) -> None:
    with suppress(OSError):  # a library that cannot be written to still answers
        # Not so that it survives a power cut: that takes longer than the search.
        (folder / _NAME).write_text(dumps(asdict(last), ensure_ascii=True), "ascii")


def history_of(folder: Path) -> Path:
    """Return the file that holds what was typed into conversations."""
    return folder / "chat_history"


def forget_last(folder: Path) -> None:
    """Forget what was asked last, and what was typed into conversations."""
    (folder / _NAME).unlink(missing_ok=True)
    history_of(folder).unlink(missing_ok=True)


def read_last(folder: Path) -> LastSearch:
    """Return what was asked or searched last.

    Raises:
        NotFoundError: nothing was, or its file is damaged.
    """
    try:
        return TypeAdapter(LastSearch).validate_json((folder / _NAME).read_bytes())
    except FileNotFoundError:
        message = "No question is kept here: none was asked, or documents were removed since."
        raise NotFoundError(message, hint=_ASK) from None
    except ValidationError:
        message = f"What was asked last cannot be read: {folder / _NAME}."
        raise NotFoundError(message, hint=_ASK) from None


def source_numbered(last: LastSearch, number: int) -> LastSource:
    """Return a source of the last answer or search."""
    found = next((source for source in last.sources if source.number == number), None)
    if found is None:
        numbers = [source.number for source in last.sources]
        known = f"1 to {max(numbers)}" if numbers else "none"
        raise NotFoundError(
            f"There is no source {number}. Sources of the last question: {known}.", hint=_ASK
        )
    return found


_TEXTS: Final = (".txt", ".md", ".rst", ".pdf", ".docx", ".odt", ".rtf", ".epub")
_OTHERS: Final = (".pptx", ".odp", ".xlsx", ".ods", ".png", ".jpg", ".jpeg", ".tif", ".tiff")
# Viewers that go to the page of ``file://…#page=N`` (RFC 8118, section 3).
_KNOW_PAGES: Final = ("firefox", "chromium", "google-chrome", "brave", "microsoft-edge", "okular")
_SECONDS: Final = 5.0  # until the system says which viewer it would take


def original_of(document: Document) -> Path | None:
    """Return the file of a document, where it is still the one that was read and can be shown."""
    path = Path(system_path(document.location))
    if (
        not path.is_absolute()
        or path.suffix.lower() not in (*_TEXTS, *_OTHERS)
        or not path.is_file()
    ):
        return None
    with path.open("rb") as stream:
        same = hashlib.file_digest(stream, "sha256").hexdigest() == document.sha256
    return path if same else None


def viewer_command(path: Path, page: int | None) -> tuple[str, ...]:
    """Return the command that shows a file, at a page where the viewer can; empty without one."""
    if sys.platform == "darwin":
        opener = shutil.which("open")
        return (opener, str(path)) if opener else ()
    opener = shutil.which("xdg-open")
    if not opener or not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return ()  # without a screen it would take a program of the terminal
    if page and path.suffix.lower() == ".pdf" and _knows_pages():
        return opener, f"{path.as_uri()}#page={page}"
    return opener, str(path)


def start(command: tuple[str, ...]) -> bool:
    """Start a viewer and leave it to itself; whether it could be started."""
    null = subprocess.DEVNULL
    try:
        subprocess.Popen(  # noqa: S603 - the system's opener with one file, no shell
            command, stdin=null, stdout=null, stderr=null, start_new_session=True
        )
    except OSError:
        return False
    return True


def _knows_pages() -> bool:
    asked = shutil.which("xdg-mime")
    if not asked:
        return False
    try:
        done = subprocess.run(  # noqa: S603 - a fixed question to the system
            (asked, "query", "default", "application/pdf"),
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return any(name in done.stdout.lower() for name in _KNOW_PAGES)


_HASH_DIGITS = 12
_AROUND = 200  # characters shown on each side of a citation
_PASSAGES = 8  # that `more` shows


def open_source(
    number: Annotated[int, argument("N", "The source's number in the last answer or search.")] = 1,
    *,
    only_print: Annotated[
        bool, flag("--print", "Show the place here; never start a viewer.")
    ] = False,
) -> Outcome:
    """Open a source of the last answer or search.

    On a terminal its file is shown in the system's viewer, at its page where the viewer can;
    elsewhere the place is printed. Scripts and web pages are only ever printed.
    """
    may_open = not only_print and not common().json and sys.stdout.isatty()
    with opened_library() as library:
        return opened_source(library, number, may_open=may_open)


def opened_source(library: "Library", number: int, *, may_open: bool) -> Outcome:
    """Return a source of the last answer or search, shown in the system's viewer if it may be.

    Raises:
        NotFoundError: there is no such source, or its document is gone or has changed.
    """
    source = source_numbered(read_last(library.folder), number)
    document = _unchanged(library, source)
    place = place_of(document, library.documents.body(document.id), source.start, source.end)
    path = original_of(document) if may_open else None
    command = viewer_command(path, place.page) if path else ()
    opened = bool(command) and start(command)
    location = f"{'Opened ' if opened else ''}{one_line(document.location)}"
    shown = chain([verbatim((location, Style.STRONG))], show_place(place))
    return Outcome({"number": number, "path": document.location, "place": place}, shown)


def _unchanged(library: "Library", source: "LastSource") -> "Document":
    """Return the document of a source, unless its text is another one than was cited."""
    hint = "Ask again, and open the new source."
    try:
        document = library.documents.get(source.document_id)
    except NotFoundError:
        message = f"The document of source {source.number} is not in the library any more."
        raise NotFoundError(message, hint=hint) from None
    if document.text_sha256 != source.text_sha256:
        message = f"'{document.source}' has changed since it was cited."
        raise NotFoundError(message, hint=hint)
    return document


@dataclass(frozen=True, slots=True)
class Place:
    """A stretch of a document with where it stands and what stands around it."""

    document: Document
    start: int
    end: int
    text: str
    before: str
    after: str
    section_path: tuple[str, ...]
    page: int | None
    page_label: str


def place_of(document: Document, body: Body, start: int, end: int) -> Place:
    """Find the section and page of ``text[start:end]`` by its first character."""
    section = next((s for s in body.sections if s.start <= start < s.end), None)
    page = next((p for p in body.pages if p.start <= start < p.end), None)
    return Place(
        document=document,
        start=start,
        end=end,
        text=body.text[start:end],
        before=body.text[max(0, start - _AROUND) : start],
        after=body.text[end : end + _AROUND],
        section_path=section.path if section else (),
        page=page.number if page else None,
        page_label=page.label if page else "",
    )


def show_place(value: Place) -> Iterator[TerminalBlock]:
    """Show a span of a document with what surrounds it."""
    facts = [
        value.document.source,
        page_name(value.document.page_kind, value.page, value.page_label),
        f"characters {value.start}–{value.end}",
        f"sha256 {value.document.text_sha256[:_HASH_DIGITS]}",
    ]
    title = value.document.title
    path = " › ".join((title, *without_title(title, value.section_path)))
    yield verbatim((one_line(path), Style.TITLE))
    yield verbatim((" · ".join(map(one_line, filter(None, facts))), Style.QUIET))
    yield verbatim()
    yield verbatim((value.before, Style.QUIET), (value.text, Style.KEY), (value.after, Style.QUIET))


def more() -> Outcome:
    """Show up to eight passages for the last question.

    In each the sentence with most of the question's words stands out. `open N` then opens these.
    Exit code 6 says that there are none.
    """
    with opened_library() as library:
        last = read_last(library.folder)
        persona = library.personas.load(last.persona).persona if last.persona else None
        result = library.search.hits(
            last.question,
            shelves=persona.reads if persona else last.shelves or None,
            limit=_PASSAGES,
            tags=last.tags,
            documents=last.documents,
        )
        remember_hits(library.folder, result, last.persona)
        return Outcome(
            result.unexplained(),
            lambda target: blocks(target, hits_blocks(result, key_span=True)),
            OK if result.hits else NO_ANSWER,
        )


def search(
    query: Annotated[
        list[str], argument("QUERY...", "Words, a question, a file name or a “phrase”.")
    ],
    *,
    shelf: Shelves = None,
    document: Documents = None,
    limit: Annotated[
        int | None,
        option(
            "--limit", "N", "Number of passages; by default as in the settings.", least=1, most=1000
        ),
    ] = None,
    per_document: Annotated[
        int | None,
        option("--per-document", "N", "At most so many from one document; 0 for all.", least=0),
    ] = None,
    tag: Tags = None,
    explain: Annotated[
        bool, flag("--explain", "Show the score of every stage for every hit.")
    ] = False,
) -> Outcome:
    """Find passages, best first.

    Exit code 6 says that there are none.
    """
    with opened_library() as library:
        result = library.search.hits(
            readable(*query),
            shelves=shelf or None,
            limit=limit,
            per_document=per_document,
            tags=tuple(tag or ()),
            documents=readable_names(document),
        )
        remember_hits(library.folder, result)
        return Outcome(
            result if explain else result.unexplained(),
            lambda target: blocks(target, hits_blocks(result, explain=explain)),
            OK if result.hits else NO_ANSWER,
        )


def context(
    question: Annotated[list[str], argument("QUESTION...", "What the excerpts are to answer.")],
    *,
    maximum: Annotated[
        int | None,
        option("--tokens", "N", "Longest context; by default as in the settings.", least=1),
    ] = None,
    purpose: Annotated[
        str,
        option("--purpose", "NAME", "As many tokens as packing.budgets has for it: chat, recipe …"),
    ] = "",
    shelf: Shelves = None,
    document: Documents = None,
    tag: Tags = None,
    explain: Annotated[
        bool, flag("--explain", "Show what each excerpt costs, and what packing saves.")
    ] = False,
    for_model: Annotated[
        bool, flag("--for-model", "Print numbered blocks in which no document can pass for orders.")
    ] = False,
) -> Outcome:
    """Pack what the documents say on a question into a number of tokens.

    The text is Markdown as the documents have it; a model gets it with --for-model, where nothing
    of a document reads as markup. Exit code 6 says that there is nothing.
    """
    with opened_library() as library:
        packed = library.search.context(
            readable(*question),
            maximum=maximum,
            purpose=purpose,
            shelves=shelf or None,
            tags=tuple(tag or ()),
            documents=readable_names(document),
        )
        text = packed.markdown
        if for_model:
            text = prompt.context_blocks(prompt.shown(packed.excerpts), token_hex(4))
        shown = chain(_context_blocks(packed, text), _explained(packed) if explain else ())
        return Outcome(packed, shown, OK if packed.excerpts else NO_ANSWER)


def _explained(value: Context) -> Iterator[TerminalBlock]:
    """Show what each excerpt is worth and costs, beside the first hits whole."""
    for one in value.excerpts:
        place = f"{one.hit.rank}. {one_line(one.hit.document.source)}"
        yield verbatim(f"  {one.relevance:5.0%} {one.tokens:5,} tokens  {place}")
    tokens, gain = packed_context.first_whole(value)
    if value.excerpts and tokens:
        change = value.tokens / tokens - 1
        yield verbatim(
            f"The first 8 passages whole: {tokens:,} tokens, {gain:.0%} of the value. "
            f"This context: {abs(change):.0%} {'more' if change > 0 else 'fewer'} tokens, "
            f"{value.information_gain:.0%}."
        )


def _context_blocks(value: Context, text: str) -> Iterator[TerminalBlock]:
    """Show the text as it is, and below it, apart, what it cost as Markdown."""
    if value.excerpts:
        yield Raw(f"{text}\n")
    for warning in value.warnings:
        yield verbatim((one_line(warning), Style.WARNING))
    if not value.excerpts:
        yield verbatim((_nothing(value), Style.STRONG))
        return
    facts = [
        f"{value.tokens:,} of {value.maximum:,} tokens",
        f"{counted(len(value.excerpts), 'excerpt')} of {counted(len(value.sources), 'document')}",
        f"{value.information_gain:.0%} of the value found",
    ]
    yield verbatim((" · ".join(facts), Style.QUIET))


def _nothing(value: Context) -> str:
    if not value.candidates:
        return "Nothing found."
    return (
        f"Something was found, but no sentence of it fits into {counted(value.maximum, 'token')}."
    )
