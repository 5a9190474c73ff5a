"""Which parts a library is made of, chosen and fed from its settings."""

import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from shutil import rmtree
from string import ascii_lowercase
from typing import TYPE_CHECKING, Final

from chapterhouse import __version__, lazy
from chapterhouse.answering.runtime import Runtime
from chapterhouse.errors import EngineError
from chapterhouse.files import is_writable, lock_folder, make_folder, write_whole
from chapterhouse.index.aliases import AliasIndex
from chapterhouse.index.graph import GraphIndex
from chapterhouse.index.lexical import LexicalIndex
from chapterhouse.index.ranking import rank_in_memory
from chapterhouse.index.vectors import VectorIndex
from chapterhouse.ingest.encoders import Encoders, EncoderTarget, recorded_settings
from chapterhouse.ingest.workers import Worker
from chapterhouse.models.opening import (
    LanguageModels,
    open_embedder,
    open_reranker,
    state_length,
)
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.page_views import PageViews
from chapterhouse.reading.pool import ReadingPool
from chapterhouse.settings import HOME_FILE, LONGEST, ChunkingSettings, EmbeddingSettings, Settings
from chapterhouse.settings_file import StatedSettings, read_stated, store_settings
from chapterhouse.settings_stored import ResolvedSettings, resolve
from chapterhouse.store.blobs import Blobs
from chapterhouse.store.definitions import COUNCIL_MARKS, PERSONA_MARKS, Definitions
from chapterhouse.store.places import (
    bring_home,
    folder_of,
    has_store,
    open_access_database,
    open_store,
    workspace_names,
)
from chapterhouse.store.shared_files import SharedFolders
from chapterhouse.store.snapshot import count_snapshot, is_in_use, require_own_schema
from chapterhouse.store.sqlite import IDENTITY, Store
from chapterhouse.text.counting import estimate_tokens
from chapterhouse.types import Body, Chunk, Document, Extraction, Scope, Snapshot
from chapterhouse.types.engines import Chunker, TokenEmbedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from chapterhouse.answering import prompt
    from chapterhouse.chunking import build as fingerprint
    from chapterhouse.chunking import sentence, strategies, units
    from chapterhouse.connectors import fetch
    from chapterhouse.connectors.content import Content
    from chapterhouse.connectors.folder import SourceFile
    from chapterhouse.index import Index
    from chapterhouse.ingest import archive, names, prepare
    from chapterhouse.ingest.archive import Databases, Place
    from chapterhouse.ingest.look import Prepare
    from chapterhouse.library import access, passwords
    from chapterhouse.models import built_in
    from chapterhouse.types.graph import EntityNames
else:
    prompt = lazy("chapterhouse.answering.prompt")
    sentence = lazy("chapterhouse.chunking.sentence")
    fingerprint = lazy("chapterhouse.chunking.build")
    strategies = lazy("chapterhouse.chunking.strategies")
    units = lazy("chapterhouse.chunking.units")
    fetch = lazy("chapterhouse.connectors.fetch")
    access = lazy("chapterhouse.library.access")
    passwords = lazy("chapterhouse.library.passwords")
    archive = lazy("chapterhouse.ingest.archive")
    prepare = lazy("chapterhouse.ingest.prepare")
    built_in = lazy("chapterhouse.models.built_in")
    names = lazy("chapterhouse.ingest.names")

_HOME_FILE_TEXT: Final = """\
# Settings of this Chapterhouse; every line is optional. See docs/settings.md.
"""


def preparer(settings: Settings) -> "Prepare":
    """Return what makes a document of an extraction; what cuts it is made for the first one."""
    cutter = cache(partial(cutter_for, settings))

    def prepare_document(
        extraction: Extraction, file: "SourceFile", content: "Content"
    ) -> "prepare.PreparedDocument":
        return prepare.prepare(extraction, file, content, cutter=cutter())

    return prepare_document


def cutter_for(settings: Settings) -> "prepare.Cutter":
    """Return what cuts documents as the settings say, and how that is known again."""
    return prepare.Cutter(
        chunker_for(settings.chunking),
        estimate_tokens,
        partial(fingerprint.cut_by, chunking=settings.chunking),
    )


def resolve_stored(stated: StatedSettings, store: Store) -> ResolvedSettings:
    """Return the settings that hold with what the database says of them."""
    found = store.settings()
    sequence = found.sequence()  # first: what is changed meanwhile counts as changed later
    return resolve(stated, found.values(), sequence)


def resolve_settings(home: Path, workspace: str) -> ResolvedSettings:
    """Return the settings that hold for a workspace, also for one that has no library yet.

    Raises:
        UsageError: a file or variable does not fit.
        ChapterhouseError: its database cannot be opened.
    """
    stated = read_stated(home, folder_of(home, workspace))
    if workspace not in workspace_names(home):
        return ResolvedSettings(stated.settings, stated)
    with open_store(home, workspace) as store:
        return resolve_stored(stated, store)


def open_runtime(home: Path, workspace: str, stated: StatedSettings | Settings) -> Runtime:
    """Open all parts of a workspace, whose folder is there.

    What files and environment state is joined by what its database says; settings alone hold
    whatever that says. If one part cannot be opened, those that were are closed again.
    """
    folder = folder_of(home, workspace)
    folders = definition_folders(home, workspace)
    with ExitStack() as opened:
        store = opened.enter_context(open_store(home, workspace))
        require_index_of(folder, store.identity)
        if isinstance(stated, Settings):
            resolved = ResolvedSettings(stated)
        else:
            resolved = resolve_stored(stated, store)
        settings = resolved.settings
        wanted = _wanted(settings.embedding, store)
        reranker = open_reranker(settings.rerank)
        models = LanguageModels(settings)
        worker = Worker(folder / "background")
        opened.callback(worker.close)
        aliases = AliasIndex(folder / "index" / "names")
        opened.callback(aliases.close)
        encoder = built_in.built_in_encoder()
        graph = GraphIndex(
            folder / "index" / "graph",
            partial(_read_names, encoder),
            store.name_decisions().all,
        )
        opened.callback(graph.close)
        limits = replace(Limits(), file_bytes=settings.reading.maximum_megabytes * 2**20)
        pool = ReadingPool(settings.reading.workers, limits)
        opened.callback(pool.close)
        open_index = partial(VectorIndex, wait_seconds=0.0)
        # Only the encoder in the box gives the states of tokens on which names are found.
        read = partial(graph.read, store) if wanted and wanted.embedder is encoder else None
        encoders = Encoders(store, folder, wanted, open_embedder, open_index, read)
        lexical = LexicalIndex(folder / "index" / "lexical")
        shared = store.shared_files()
        shares = SharedFolders(shared, folders, folder / "index") if shared else None
        if shares:
            shares.exchange()
        return Runtime(
            home=home,
            workspace=workspace,
            settings=settings,
            resolved=resolved,
            definitions={
                "persona": Definitions(folders["personas"], PERSONA_MARKS, shared=shares),
                "council": Definitions(folders["councils"], COUNCIL_MARKS, shared=shares),
            },
            store=store,
            memories=store.memories(),
            worker=worker,
            blobs=store.blobs,
            lexical=lexical,
            aliases=aliases,
            graph=graph,
            rank_in_memory=rank_in_memory,
            indexes=lambda: {
                "names": aliases,
                "lexical": lexical,
                "graph": graph,
                **encoders.indexes(),
            },
            encoders=encoders,
            token_encoder=encoder,
            reranker=reranker,
            language_model=models.named,
            read=pool.submit,
            page_views=PageViews(pool.show),
            preparer=partial(preparer, settings),
            cutter=partial(cutter_for, settings),
            open_fetch=lambda: fetch.Fetcher().fetch,
            now=lambda: int(time.time()),
            nonce=_nonce,
            version=__version__,
            close=opened.pop_all().close,
        )


def open_access(home: Path) -> "access.Access":
    """Open what says who may use a home over the network; close it again.

    The home need not be there: it and its ``access.db`` are made by what is written first.
    """
    return access.Access(
        open_access_database(home), passwords.Passwords(), lambda: int(time.time())
    )


def definition_folders(home: Path, workspace: str) -> dict[str, Path]:
    """Return the folders in which the definitions of a workspace are.

    The default workspace has them in the home; nothing of one workspace is seen from another.
    """
    folder = home if workspace == "default" else home / "workspaces" / workspace
    return {name: folder / name for name in ("personas", "councils")}


def place_of(home: Path, workspace: str) -> "Place":
    """Return where a workspace is, or will be."""
    folder = folder_of(home, workspace)
    return archive.Place(home, workspace, folder, definition_folders(home, workspace))


def databases(home: Path, workspace: str) -> "Databases":
    """Return what is done to the database of a workspace that is not open."""

    def count(path: Path) -> Snapshot:
        require_own_schema(path)
        return count_snapshot(path)

    def held() -> tuple[int, int]:
        if not store_settings(home).address or not has_store(home, workspace):
            return 0, 0
        with open_store(home, workspace) as store:
            memories = store.memories()
            return len(store.document_ids(Scope.everything())), memories.count(memories.personas())

    bring = partial(bring_home, home, workspace)
    return archive.Databases(count, is_in_use, _open_stored, held, bring)


@contextmanager
def _open_stored(folder: Path) -> Iterator["tuple[Store, Mapping[str, Index]]"]:
    """Open the store of a workspace and what is made of it while adding, under no settings."""
    with ExitStack() as opened:
        store = opened.enter_context(Store(folder / "library.db", blobs=Blobs(folder / "blobs")))
        aliases = AliasIndex(folder / "index" / "names")
        opened.callback(aliases.close)
        yield (
            store,
            {"names": aliases, "lexical": LexicalIndex(folder / "index" / "lexical")},
        )


def require_index_of(folder: Path, identity: str) -> None:
    """Delete the indexes of a workspace where they are of another store than the one it has now.

    Args:
        identity: Of the store; empty for the file beside them.
    """
    mark = folder / IDENTITY
    with lock_folder(folder):
        known = mark.read_text("utf-8") if mark.exists() else ""
        if known == identity:
            return
        rmtree(folder / "index", ignore_errors=True)
        if identity:
            make_folder(mark.parent)
            write_whole(mark, identity)


def _read_names(
    encoder: TokenEmbedder, texts: Sequence[tuple[Document, Body, Sequence[Chunk]]]
) -> "Iterator[tuple[EntityNames, NDArray[np.float32] | None]]":
    return names.read_names(encoder, texts)


def _nonce() -> str:
    return "".join(secrets.choice(ascii_lowercase) for _ in range(prompt.MARK_LETTERS))


def _wanted(settings: EmbeddingSettings, store: Store) -> EncoderTarget | None:
    """Return the encoder that the settings name; a service that is down only delays it."""
    if settings.engine == "none":
        return None
    records = store.embeddings().encoders().values()
    try:
        stated = state_length(settings, map(recorded_settings, records))
        embedder = open_embedder(stated)
        embedder.fingerprint  # noqa: B018 - reads the model's folder
    except EngineError as error:
        return EncoderTarget(settings, None, f"{error.message} {error.hint}".strip())
    return EncoderTarget(stated, embedder)


def make_home(home: Path, own: Path) -> None:
    """Make the home folder with its settings file, and the workspace's own folder in it."""
    make_folder(own)
    if is_writable(home / HOME_FILE) and not (home / HOME_FILE).exists():
        write_whole(home / HOME_FILE, _HOME_FILE_TEXT)


def chunker_for(chunking: ChunkingSettings) -> Chunker:
    """Return what cuts documents as these settings say, each by its file type.

    Whoever has settings of its own, as a workspace has and a persona may have, gets its chunker
    here. Strategies that need vectors take those of the encoder in the box, whatever embeds the
    chunks: they look at every sentence, which no service should have to.
    """
    longest = chunking.maximum or LONGEST
    # A maximum set for "sentence" alone may be shorter than the other lengths would allow.
    shortest = max(1, min(chunking.minimum, longest // 4))
    wanted = max(shortest, min(chunking.target or units.TARGET, longest))
    named: dict[str, Chunker] = {
        **strategies.strategies(
            built_in.built_in_encoder().embed_passages, units.Limits(wanted, shortest, longest)
        ),
        "fixed": partial(sentence.chunk_by_size, size=longest, overlap=chunking.overlap),
        "sentence": partial(
            sentence.chunk_by_sentence, maximum=chunking.maximum or sentence.MAXIMUM
        ),
    }
    by_format = {  # ".md" means what "md" does
        name.lower().removeprefix("."): named[strategy]
        for name, strategy in chunking.by_format.items()
    }
    return partial(
        strategies.chunk_by_format, chunkers=by_format, otherwise=named[chunking.strategy]
    )
