"""Commands about encoders: model embed, back, forget."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal
from urllib.parse import urlsplit

import typer

from chapterhouse.errors import EngineError, UsageError
from chapterhouse.interfaces.background import become_idle
from chapterhouse.interfaces.cli import progress
from chapterhouse.interfaces.cli.options import flag
from chapterhouse.interfaces.cli.progress import show_progress
from chapterhouse.interfaces.cli.session import Outcome, named_folders, opened_library, require_yes
from chapterhouse.interfaces.cli.settings_file import require_effect, write_encoder
from chapterhouse.loading import lazy
from chapterhouse.presenting.blocks import TerminalBlock, table, verbatim
from chapterhouse.settings import EmbeddingSettings
from chapterhouse.text.counting import counted
from chapterhouse.types import EncoderStatus

if TYPE_CHECKING:
    from chapterhouse.connectors import model_files
    from chapterhouse.models import cards, model_folder
else:
    model_files = lazy("chapterhouse.connectors.model_files")
    cards = lazy("chapterhouse.models.cards")
    model_folder = lazy("chapterhouse.models.model_folder")


_MODELS: Final = "models"  # in the home folder
_MINUTE: Final = 60
_HOUR: Final = 3_600
_MEGABYTE: Final = 1_000_000


def use_encoder(embedder: str, model: str, mirror: str, file: str, ask: bool) -> Outcome:
    """Choose an encoder, fetch it if it is a known one, and begin to make its vectors."""
    if mirror and file:
        raise typer.BadParameter("--mirror and --file exclude each other.")

    place, own = named_folders()
    require_effect(own)
    chosen = _settings_of(embedder, model, mirror, file, place / _MODELS, ask=ask)
    place.mkdir(parents=True, exist_ok=True)
    write_encoder(place, own, chosen)
    with opened_library(create=True) as library:
        chunks, speed, problem = 0, 0.0, ""
        try:
            chunks, speed = library.encoders.speed()
        except EngineError as error:  # it is chosen all the same, and may be there later
            problem = f"{error.message} {error.hint}".strip()
        found = library.encoders.statuses()
        data = {
            "encoders": found,
            "chunks": chunks,
            "chunks_per_second": round(speed, 1),
            "problem": problem,
        }
        return Outcome(data, _show_chosen(found, chunks, speed, problem))


def embed(
    *, idle: Annotated[bool, flag("--idle", "Work at the lowest priority.")] = False
) -> Outcome:
    """Make the vectors that documents lack, and wait for it.

    Commands do this in the background by themselves. Ctrl-C stops it; what was made is safe.
    """
    if idle:
        become_idle()

    with opened_library() as library:
        with progress.show_progress() as on_progress:
            found = library.encoders.embed_pending(on_progress)
        return Outcome({"encoders": found}, listed(found, ()))


def back() -> Outcome:
    """Return to the encoder before the present one, at once, or give up one that is being built."""
    with opened_library(background=False) as library:
        settings = library.encoders.previous()
        write_encoder(library.home, library.home / "workspaces" / library.workspace, settings)
        library.encoders.return_to_previous()
        found = library.encoders.statuses()
        return Outcome({"encoders": found}, listed(found, ()))


def forget() -> Outcome:
    """Delete the vectors of the previous encoder.

    There is no way back to it without making them again.
    """
    with opened_library() as library:
        number = library.encoders.forget()
        sentence = f"Deleted the vectors of {counted(number, 'document')}."
        return Outcome({"documents": number}, [verbatim(sentence)])


def _settings_of(
    embedder: str, model: str, mirror: str, file: str, models: Path, *, ask: bool
) -> EmbeddingSettings:
    """Return the settings of the encoder; a known one is fetched first."""
    card = cards.card_named(embedder)
    if card is None or not (card.files or card.engine == "openai"):
        if mirror or file:
            names = ", ".join(card.name for card in cards.known_cards() if card.files)
            raise UsageError(
                "--mirror and --file are for encoders that are fetched.",
                hint=f"Those are: {names}.",
            )
        return EmbeddingSettings(engine=_engine(card)) if card else _unknown(embedder, model)
    if card.engine == "openai":
        return EmbeddingSettings(
            engine="openai",
            model=model or card.model,
            base_url=card.base_url,
            dimensions=card.dimensions,
            question_prefix=card.question_prefix,
            passage_prefix=card.passage_prefix,
            languages=card.languages,
        )
    folder = models / card.name
    _bring(card, mirror, file, folder, ask=ask)
    return EmbeddingSettings(
        engine="folder",
        folder=str(folder),
        checksum=model_folder.open_model_folder(str(folder), section="embedding").checksum,
        question_prefix=card.question_prefix,
        passage_prefix=card.passage_prefix,
        languages=card.languages,
    )


def _engine(card: "cards.Card") -> Literal["built-in", "static"]:
    return "static" if card.engine == "static" else "built-in"


def _bring(card: "cards.Card", mirror: str, file: str, folder: Path, *, ask: bool) -> None:
    """Put the files of a card into ``folder``; those that are there are not fetched again."""
    files = card.card_files
    if all(model_files.is_right(folder / one.name, one) for one in files):
        return
    if file:
        model_files.take_files(files, Path(file).expanduser(), folder)
        return
    url = card.source(mirror)
    host = urlsplit(url).hostname or url
    if ask:
        what = f"Fetch {card.name} ({_megabytes(card.size)}, licence {card.licence}) from {host}"
        require_yes(what)
    # A mirror is trusted with nothing but its own host; the hub names those of its files.
    hosts = (host,) if mirror else card.hosts
    with show_progress() as on_progress:
        model_files.fetch_files(files, model_files.Origin(url, hosts), folder, on_progress)


def _unknown(embedder: str, model: str) -> EmbeddingSettings:
    """Return the settings of an encoder without a card: a service or a folder."""
    if "://" in embedder:
        if not model:
            raise UsageError("A service has several models.", hint="Name one: --model NAME")
        return EmbeddingSettings(engine="openai", base_url=embedder, model=model)
    folder = Path(embedder).expanduser()
    if folder.is_dir():
        place = str(folder.absolute())
        checksum = model_folder.open_model_folder(place, section="embedding").checksum
        return EmbeddingSettings(engine="folder", folder=place, checksum=checksum)
    raise UsageError(
        f"'{embedder}' is neither a known encoder nor a folder nor an address.",
        hint=f"Known are: {', '.join(card.name for card in cards.known_cards())}.",
    )


# --- what is shown ------------------------------------------------------------------------------


def vector_rows(found: Sequence[EncoderStatus], documents: int) -> list[tuple[str, str]]:
    """Return rows of ``status``: how far an encoder is that is not complete, and why."""
    rows = []
    for entry in found:
        behind = entry.role == "active" and entry.done < entry.total
        if entry.role == "building" or behind:
            rows.append((f"vectors of {entry.name}", _progress(entry)))
            if entry.done < entry.total and not entry.problem:
                rows.append(
                    ("", "The rest follows in the background; now: chapterhouse model embed")
                )
            if 0 < entry.total < documents:
                others = counted(documents - entry.total, "document is", "documents are")
                rows.append(("", f"{others} in languages that it does not serve."))
        if entry.problem:
            rows.append(("", f"They could not be made: {entry.problem}"))
    return rows


def listed(
    found: Sequence[EncoderStatus], known: Sequence["cards.Card"]
) -> Iterator[TerminalBlock]:
    """List the encoders of a library, then those that are known."""
    rows = ((entry.name, entry.role, _progress(entry)) for entry in found)
    yield from table(("in this library", "role", "vectors of"), rows)
    for entry in found:
        if entry.problem:
            yield verbatim(f"{entry.name}: {entry.problem}")
    if not known:
        return
    yield verbatim()
    header = ("known", "licence", "to fetch", "what it is")
    cards_known = ((one.name, one.licence, _megabytes(one.size), one.summary) for one in known)
    yield from table(header, cards_known)


def _show_chosen(
    found: Sequence[EncoderStatus], chunks: int, speed: float, problem: str
) -> Iterator[TerminalBlock]:
    wanted = next((entry for entry in found if entry.role == "building"), found[0])
    if wanted.role == "active":
        yield verbatim(f"{wanted.name} is in use: {_progress(wanted)} have its vectors.")
        return
    yield verbatim(f"{wanted.name} is chosen: {_progress(wanted)} have its vectors.")
    if problem:
        yield verbatim(f"It cannot be used yet: {problem}")
    if speed:
        yield verbatim(
            f"About {speed:,.0f} chunks a second here, {chunks:,} to go: "
            f"{_duration(chunks / speed)}."
        )
    yield verbatim(
        "Until then the library answers as before. Commands make the vectors in the "
        "background; to wait for them: chapterhouse model embed"
    )


def _megabytes(size: int) -> str:
    """Return bytes for people, ``-`` for none."""
    return f"{max(size / _MEGABYTE, 0.1):,.1f} MB" if size else "-"


def _duration(seconds: float) -> str:
    """Return a time for people: ``about 3 minutes``."""
    if seconds < _MINUTE:
        return "less than a minute"
    if seconds < 2 * _HOUR:
        return f"about {counted(round(seconds / _MINUTE), 'minute')}"
    return f"about {counted(round(seconds / _HOUR), 'hour')}"


def _progress(entry: EncoderStatus) -> str:
    return f"{entry.done:,} of {counted(entry.total, 'document')}"
