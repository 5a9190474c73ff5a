"""Libraries of the natural folders and the questions put to them, with the product's defaults."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from chapterhouse.agents.ask import Emit
from chapterhouse.agents.ask import ask as answer_question
from chapterhouse.answering.request import AskOptions
from chapterhouse.library import Library
from chapterhouse.models.opening import open_embedder
from chapterhouse.models.scripted import ScriptedModel
from chapterhouse.settings import EmbeddingSettings
from chapterhouse.types import Answer, Hit, Status
from chapterhouse.types.engines import Embedder
from folders import lay_out
from marking import Passage, Quoted, Reply
from measuring import data_folder
from vector_cache import cached_passages


def embedding_of(choice: str) -> Mapping[str, str]:
    """Return the embedding settings of a choice: what differs from the product's defaults.

    Args:
        choice: ``built-in`` for the defaults, ``none``, else a model's folder.

    Raises:
        SystemExit: there is no such folder.
    """
    if choice == "built-in":
        return {}
    if choice == "none":
        return {"engine": choice}
    folder = Path(choice).expanduser().absolute()
    if not folder.is_dir():
        raise SystemExit(
            f"--embedder {choice}: no such folder. Name built-in, none or a folder "
            "with a model's files."
        )
    return {"engine": "folder", "folder": str(folder)}


def label_of(choice: str) -> str:
    """Return how a choice is called in results: never a path of this machine."""
    return choice if not embedding_of(choice).get("folder") else f"folder {Path(choice).name}"


def settings_of(choice: str) -> EmbeddingSettings:
    """Return the embedding settings of a choice as a value."""
    return EmbeddingSettings.model_validate(embedding_of(choice))


@contextmanager
def opened(folder: str, choice: str) -> Iterator[Library]:
    """Lay a folder out, add it to a library of its own and remove it all in the end."""
    with TemporaryDirectory(prefix="natural-") as name:
        documents = lay_out(folder, data_folder(), Path(name) / "documents")
        with made_of(documents, choice) as library:
            yield library


@contextmanager
def made_of(documents: Path, choice: str) -> Iterator[Library]:
    """Add documents to a library of its own and remove it in the end, with all its vectors.

    Prints every file that did not become a document.
    """
    with TemporaryDirectory(prefix="library-") as name:
        home = Path(name)
        lines = [f'{key} = "{value}"' for key, value in embedding_of(choice).items()]
        (home / "chapterhouse.toml").write_text("\n".join(["[embedding]", *lines, ""]), "utf-8")
        with Library.open(home) as library:
            library.documents.add(documents)
            for file in library.documents.files():
                if file.status in {Status.REJECTED, Status.SKIPPED}:
                    print(f"{file.source}: {file.status}, {file.sentence}", flush=True)
            complete_vectors(library)
            yield library


def complete_vectors(library: Library) -> None:
    """Make the vectors of a library complete, which are otherwise made in the background."""
    library.encoders.embed_pending()


@contextmanager
def with_embedder(choice: str) -> Iterator[Embedder]:
    """Open the embedder of a choice without a library; its vectors are cached between runs."""
    with cached_passages(open_embedder(settings_of(choice))) as cached:
        yield cached


def search(library: Library, text: str) -> list[Passage]:
    """Return the hits of a question as a reader sees them, best first."""
    return [
        Passage(_name(hit.document.source), shown(hit)) for hit in library.search.hits(text).hits
    ]


def read_text(library: Library, names: Sequence[str]) -> str:
    """Return titles and texts of documents as our readers read them; nothing of one not read."""
    own = {_name(document.source): document for document in library.documents.list()}
    found = [own[name] for name in names if name in own]
    return "\n".join(f"{each.title}\n{library.documents.body(each.id).text}" for each in found)


def shown(hit: Hit) -> str:
    """Return a hit with its title, its section path and the heading rows of its table."""
    place = " › ".join([hit.document.title, *hit.chunk.section_path])
    return "\n".join(filter(None, (place, hit.chunk.header, hit.chunk.text)))


def ask(library: Library, text: str) -> Reply:
    """Return what the first screen shows without a model."""
    answer = library.answers.ask(text, model="none", remember=False, use_cache=False)
    citations = {citation.number: citation for citation in answer.citations}
    quoted = []
    for sentence in answer.sentences:
        own = [citations[number] for number in sentence.citations]
        documents = tuple(_name(citation.source) for citation in own)
        table = any(citation.quote.startswith("|") for citation in own)
        quoted.append(Quoted(sentence.text, documents, table))
    sure = answer.certainty == "sure"
    return Reply(answer.outcome.value, tuple(quoted), answer.confidence, sure)


def ask_model(
    library: Library, text: str, model: ScriptedModel, emit: Emit | None = None
) -> Answer:
    """Return the answer where a model of our own writes it, to the question as it is."""
    never = library.settings.expansion.model_copy(update={"rewrite": "never"})  # one text to give
    settings = library.settings.model_copy(update={"expansion": never})
    own = library._runtime  # noqa: SLF001 - with a model of our own
    runtime = replace(own, settings=settings, language_model=lambda _: model)
    options = AskOptions(remember=False, use_cache=False)
    return asyncio.run(answer_question(text, "", options, runtime, emit))


def titles_of(library: Library) -> Mapping[str, str]:
    """Return title and name of each document by its name."""
    own = {_name(document.source): document.title for document in library.documents.list()}
    return {name: f"{title} {name}" for name, title in own.items()}


def _name(source: str) -> str:
    """Return a document's name in its folder: its source less the folder that was added."""
    return source.partition("/")[2]
