"""Commands about encoders: model embed, back, forget."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal
from urllib.parse import urlsplit

import typer

from chapterhouse.errors import EngineError, UsageError
from chapterhouse.interfaces.background import become_idle
from chapterhouse.interfaces.cli import progress, render_models
from chapterhouse.interfaces.cli.options import flag
from chapterhouse.interfaces.cli.progress import show_progress
from chapterhouse.interfaces.cli.render_models import megabytes
from chapterhouse.interfaces.cli.session import Outcome, named_folders, opened_library, require_yes
from chapterhouse.interfaces.cli.settings_file import require_effect, write_encoder
from chapterhouse.loading import lazy
from chapterhouse.presenting.blocks import verbatim
from chapterhouse.settings import EmbeddingSettings
from chapterhouse.text.counting import counted

if TYPE_CHECKING:
    from chapterhouse.connectors import model_files
    from chapterhouse.models import cards, model_folder
else:
    model_files = lazy("chapterhouse.connectors.model_files")
    cards = lazy("chapterhouse.models.cards")
    model_folder = lazy("chapterhouse.models.model_folder")


_MODELS: Final = "models"  # in the home folder


def use_encoder(embedder: str, model: str, mirror: str, file: str, ask: bool) -> Outcome:
    """Choose an encoder, fetch it if it is a known one, and begin to make its vectors.

    Args:
        embedder: A known name, a folder, or the address of a service.
        model: As the service calls it.
        mirror: Fetch from here; empty for the hub.
        file: A folder or zip with the files; empty to fetch them.
        ask: Whether to ask before something is fetched.
    """
    if mirror and file:
        raise typer.BadParameter("--mirror and --file exclude each other.")

    place, own = named_folders()
    require_effect(own)
    chosen = _settings_of(_Choice(embedder, model, mirror, file, place / _MODELS), ask=ask)
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
        return Outcome(data, render_models.encoder_chosen(found, chunks, speed, problem))


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
        return Outcome({"encoders": found}, render_models.encoders(found, ()))


def back() -> Outcome:
    """Return to the encoder before the present one, at once, or give up one that is being built."""
    with opened_library(background=False) as library:
        settings = library.encoders.previous()
        write_encoder(library.home, library.home / "workspaces" / library.workspace, settings)
        library.encoders.return_to_previous()
        found = library.encoders.statuses()
        return Outcome({"encoders": found}, render_models.encoders(found, ()))


def forget() -> Outcome:
    """Delete the vectors of the previous encoder.

    There is no way back to it without making them again.
    """
    with opened_library() as library:
        number = library.encoders.forget()
        sentence = f"Deleted the vectors of {counted(number, 'document')}."
        return Outcome({"documents": number}, [verbatim(sentence)])


@dataclass(frozen=True, slots=True)
class _Choice:
    """What a user names.

    Attributes:
        embedder: A known name, a folder, or the address of a service.
        model: As the service at that address calls it.
        mirror: An address laid out as the model hub; empty for the hub.
        file: A folder or zip with the files; empty to fetch them.
        models: The folder that models are put into.
    """

    embedder: str
    model: str
    mirror: str
    file: str
    models: Path


def _settings_of(choice: _Choice, *, ask: bool) -> EmbeddingSettings:
    """Return the settings of the encoder; a known one is fetched first.

    Args:
        choice: What the user names.
        ask: Whether to ask before something is fetched.

    Raises:
        UsageError: nothing has that name.
        ConfirmationNeededError: nobody agreed to fetch it.
        EngineError: a file cannot be had, or is not the one that was pinned.
        RefusedError: a redirect leads where it must not.
    """
    card = cards.card_named(choice.embedder)
    if card is None or not (card.files or card.engine == "openai"):
        if choice.mirror or choice.file:
            names = ", ".join(card.name for card in cards.known_cards() if card.files)
            raise UsageError(
                "--mirror and --file are for encoders that are fetched.",
                hint=f"Those are: {names}.",
            )
        return EmbeddingSettings(engine=_engine(card)) if card else _unknown(choice)
    if card.engine == "openai":
        return EmbeddingSettings(
            engine="openai",
            model=choice.model or card.model,
            base_url=card.base_url,
            dimensions=card.dimensions,
            question_prefix=card.question_prefix,
            passage_prefix=card.passage_prefix,
            languages=card.languages,
        )
    folder = choice.models / card.name
    _bring(card, choice, folder, ask=ask)
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


def _bring(card: "cards.Card", choice: _Choice, folder: Path, *, ask: bool) -> None:
    """Put the files of a card into ``folder``; those that are there are not fetched again."""
    files = card.card_files
    if all(model_files.is_right(folder / file.name, file) for file in files):
        return
    if choice.file:
        model_files.take_files(files, Path(choice.file).expanduser(), folder)
        return
    url = card.source(choice.mirror)
    host = urlsplit(url).hostname or url
    if ask:
        what = f"Fetch {card.name} ({megabytes(card.size)}, licence {card.licence}) from {host}"
        require_yes(what)
    # A mirror is trusted with nothing but its own host; the hub names those of its files.
    hosts = (host,) if choice.mirror else card.hosts
    with show_progress() as on_progress:
        model_files.fetch_files(files, model_files.Origin(url, hosts), folder, on_progress)


def _unknown(choice: _Choice) -> EmbeddingSettings:
    """Return the settings of an encoder without a card: a service or a folder."""
    if "://" in choice.embedder:
        if not choice.model:
            raise UsageError("A service has several models.", hint="Name one: --model NAME")
        return EmbeddingSettings(engine="openai", base_url=choice.embedder, model=choice.model)
    folder = Path(choice.embedder).expanduser()
    if folder.is_dir():
        place = str(folder.absolute())
        checksum = model_folder.open_model_folder(place, section="embedding").checksum
        return EmbeddingSettings(engine="folder", folder=place, checksum=checksum)
    raise UsageError(
        f"'{choice.embedder}' is neither a known encoder nor a folder nor an address.",
        hint=f"Known are: {', '.join(card.name for card in cards.known_cards())}.",
    )
