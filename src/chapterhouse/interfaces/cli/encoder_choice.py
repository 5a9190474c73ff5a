"""From what a user names to the settings of an encoder, with its files in place."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from chapterhouse.connectors.model_files import Origin, fetch_files, is_right, take_files
from chapterhouse.errors import UsageError
from chapterhouse.interfaces.cli.consent import require_yes
from chapterhouse.interfaces.cli.progress import told_to
from chapterhouse.interfaces.cli.render_encoders import megabytes
from chapterhouse.models.cards import Card, card_named, known_cards
from chapterhouse.models.model_folder import open_model_folder
from chapterhouse.settings import EmbeddingSettings


@dataclass(frozen=True, slots=True)
class Choice:
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


def settings_of(choice: Choice, *, ask: bool, as_json: bool) -> EmbeddingSettings:
    """Return the settings of the encoder; a known one is fetched first.

    Args:
        choice: What the user names.
        ask: Whether to ask before something is fetched.
        as_json: Whether a program reads the output, and nobody is to be asked.

    Raises:
        UsageError: nothing has that name.
        ConfirmationNeededError: nobody agreed to fetch it.
        EngineError: a file cannot be had, or is not the one that was pinned.
        RefusedError: a redirect leads where it must not.
    """
    card = card_named(choice.embedder)
    if card is None or not (card.files or card.engine == "openai"):
        if choice.mirror or choice.file:
            raise UsageError(
                "--mirror and --file are for encoders that are fetched.",
                hint=f"Those are: {', '.join(card.name for card in known_cards() if card.files)}.",
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
    _bring(card, choice, folder, ask=ask, as_json=as_json)
    return EmbeddingSettings(
        engine="folder",
        folder=str(folder),
        checksum=open_model_folder(str(folder), section="embedding").checksum,
        question_prefix=card.question_prefix,
        passage_prefix=card.passage_prefix,
        languages=card.languages,
    )


def _engine(card: Card) -> Literal["built-in", "static"]:
    return "static" if card.engine == "static" else "built-in"


def _bring(card: Card, choice: Choice, folder: Path, *, ask: bool, as_json: bool) -> None:
    """Put the files of a card into ``folder``; those that are there are not fetched again."""
    files = card.card_files
    if all(is_right(folder / file.name, file) for file in files):
        return
    if choice.file:
        take_files(files, Path(choice.file).expanduser(), folder)
        return
    url = card.source(choice.mirror)
    host = urlsplit(url).hostname or url
    if ask:
        what = f"Fetch {card.name} ({megabytes(card.size)}, licence {card.licence}) from {host}"
        require_yes(what, as_json=as_json)
    # A mirror is trusted with nothing but its own host; the hub names those of its files.
    hosts = (host,) if choice.mirror else card.hosts
    with told_to() as tell:
        fetch_files(files, Origin(url, hosts), folder, tell)


def _unknown(choice: Choice) -> EmbeddingSettings:
    """Return the settings of an encoder without a card: a service or a folder."""
    if "://" in choice.embedder:
        if not choice.model:
            raise UsageError("A service has several models.", hint="Name one: --model NAME")
        return EmbeddingSettings(engine="openai", base_url=choice.embedder, model=choice.model)
    folder = Path(choice.embedder).expanduser()
    if folder.is_dir():
        place = str(folder.absolute())
        checksum = open_model_folder(place, section="embedding").checksum
        return EmbeddingSettings(engine="folder", folder=place, checksum=checksum)
    raise UsageError(
        f"'{choice.embedder}' is neither a known encoder nor a folder nor an address.",
        hint=f"Known are: {', '.join(card.name for card in known_cards())}.",
    )
