"""Documents with words that are nowhere else, and faults that a search of files must find."""

import io
import random
import zipfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from email.message import EmailMessage
from pathlib import Path

import apsw

from chapterhouse import Library
from chapterhouse.types import Memory, Scope

EVERYTHING = Scope.everything()
SHARED = "Every berth is let for a season, and the harbour office keeps the list of those who wait."
KINDS = ("md", "html", "csv", "txt", "large", "zip", "eml", "shared")
_LETTERS = "bcdfghjklmnpqrstvwxz"


@dataclass(frozen=True, slots=True)
class Marked:
    """A document and the words that are in no other: of its text, title, metadata and name."""

    id: str
    source: str
    words: tuple[str, ...]


def _word(number: int, chance: random.Random) -> str:
    own = "".join(_LETTERS[int(digit)] for digit in f"{number:05}")
    return f"canary{''.join(chance.choices(_LETTERS, k=10))}{own}"


def write_corpus(
    folder: Path, number: int, chance: random.Random, kinds: Sequence[str] = KINDS
) -> dict[str, tuple[str, ...]]:
    """Write some documents of every kind; return the words of each by its file name."""
    folder.mkdir(parents=True)
    words: dict[str, tuple[str, ...]] = {}
    for one in range(number):
        kind = kinds[one % len(kinds)]
        text, title, stated, name = (_word(4 * one + part, chance) for part in range(4))
        path = f"{name}.{'md' if kind in {'large', 'shared'} else kind}"
        if kind == "zip":
            _write_zip(folder / f"archive{one}.zip", f"{name}.md", text, title)
            words[f"{name}.md"] = (text, title, name)
        elif kind == "eml":
            (folder / path).write_bytes(_message(text, title, stated))
            words[path] = (text, title, stated, name)
        else:
            (folder / path).write_text(_TEXTS[kind](text, title, stated), "utf-8")
            words[path] = (text, title, name) + ((stated,) if kind in _STATING else ())
    (folder / "stays.md").write_text(f"# What stays\n\n{SHARED}\n\nNobody removes this.\n", "utf-8")
    return words


_STATING = frozenset({"md", "html", "csv", "large"})


def _markdown(text: str, title: str, stated: str) -> str:
    return (
        f"---\nauthor: {stated}\n---\n# {title} annual figures\n\nThe {text.title()} Report"
        f" ({text.upper()}) of the office is about {text}.\n\n| berth | fee |\n| --- | --- |\n"
        f"| {text} | 80 euros |\n\n## Of {text}\n\nIt was handed in by {stated}.\n"
    )


def _html(text: str, title: str, stated: str) -> str:
    return (
        f"<html><head><title>{title} page</title><meta name=author content={stated}></head><body>"
        f"<h1>{title} page</h1><p>The office says {text} to whoever asks for a berth there.</p>"
        f"<table><tr><th>berth</th><th>of</th></tr><tr><td>{text}</td><td>{stated}</td></tr>"
        "</table></body></html>"
    )


def _csv(text: str, title: str, stated: str) -> str:
    return f"berth,of,fee\n{text},{title},80\nsecond,{stated},90\n"


def _plain(text: str, title: str, stated: str) -> str:
    del stated
    return f"{title} and the tides\n\nSlack water of {text} lasts eleven minutes at the pier.\n"


def _large(text: str, title: str, stated: str) -> str:
    rest = "Ships come and go, and the tide table hangs beside the door. " * 1_200
    return f"{_markdown(text, title, stated)}\n{rest}\n"


def _shared(text: str, title: str, stated: str) -> str:
    del stated
    return f"# {title}\n\n{SHARED}\n\nOnly here it says {text}.\n"


_TEXTS: Mapping[str, Callable[[str, str, str], str]] = {
    "md": _markdown,
    "html": _html,
    "csv": _csv,
    "txt": _plain,
    "large": _large,
    "shared": _shared,
}


def _write_zip(path: Path, name: str, text: str, title: str) -> None:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, _plain(text, title, ""))
        archive.writestr("other.md", f"# Another member of {path.stem}\n\nIt is never removed.\n")
    path.write_bytes(data.getvalue())


def _message(text: str, title: str, stated: str) -> bytes:
    message = EmailMessage()
    message["Subject"], message["From"] = f"About {title}", f"{stated} <office@example.org>"
    message.set_content(f"The office writes that {text} is let for the whole season.\n")
    return message.as_bytes()


def _memory_of(document: Marked, answer: str) -> Memory:
    sources = (document.id,)
    return Memory("", "", 1, 0, "What?", answer, found=True, method="", sources=sources, sequence=1)


def marked(library: Library, words: Mapping[str, tuple[str, ...]]) -> list[Marked]:
    """Return the documents of a library that have words of their own, in order of id."""
    found = [
        Marked(one.id, one.source, words[one.source.rpartition("/")[2]])
        for one in library.documents.list()
        if one.source.rpartition("/")[2] in words
    ]
    assert len(found) == len(words), (len(found), len(words))
    return found


def remember(library: Library, documents: Sequence[Marked]) -> None:
    """Let memories and a cached answer rest on some documents."""
    sequence = library.status().sequence
    for document in documents:
        said = f"The office says {document.words[0]}."
        library.memory.remember(_memory_of(document, said))
        library.memory.cache_answer(
            document.id, EVERYTHING, sequence, f'["{document.id}", "{said}"]'
        )


def holding(folder: Path, words: Sequence[str]) -> dict[str, list[str]]:
    """Return the files that hold any of some words, whatever the case."""
    found: dict[str, list[str]] = {}
    for path in sorted(folder.rglob("*")):
        data = path.read_bytes().lower() if path.is_file() else b""
        here = [word for word in words if word.encode() in data]
        if here:
            found[str(path.relative_to(folder))] = here
    return found


# --- faults --------------------------------------------------------------------------------------

# Each is made of a workspace before a removal, and plants its fault when the removal is over.
Plant = Callable[[], object]


def _memory(library: Library, document: Marked) -> Plant:
    return lambda: library.memory.remember(_memory_of(document, "This."))


def _cached(library: Library, document: Marked) -> Plant:
    answer = f'{{"source": "{document.id}"}}'
    return lambda: library.memory.cache_answer("k", EVERYTHING, library.status().sequence, answer)


def _file(place: str) -> Callable[[Library, Marked], Plant]:
    def prepare(library: Library, document: Marked) -> Plant:
        text = library.documents.body(document.id).text
        path = library.folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        return lambda: path.write_text(f"left over: {text}", "utf-8")

    return prepare


def _row(table: str, key: str) -> Callable[[Library, Marked], Plant]:
    """Return what writes the document's rows of a table back, past everything that guards it."""

    def prepare(library: Library, document: Marked) -> Plant:
        database = library.folder / "library.db"
        with closing(apsw.Connection(str(database))) as connection:
            found = connection.execute(
                f"SELECT * FROM {table} WHERE {key} = (SELECT key FROM document WHERE id = ?)",
                (document.id,),
            ).fetchall()
        assert found, table

        def plant() -> None:
            marks = ",".join("?" * len(found[0]))
            with closing(apsw.Connection(str(database))) as connection, connection:
                connection.executemany(f"INSERT INTO {table} VALUES ({marks})", found)

        return plant

    return prepare


def _content(library: Library, document: Marked) -> Plant:
    sha256 = library.documents.get(document.id).sha256
    database = library.folder / "library.db"
    with closing(apsw.Connection(str(database))) as connection:
        found = connection.execute("SELECT * FROM content WHERE sha256 = ?", (sha256,)).fetchone()

    def plant() -> None:
        with closing(apsw.Connection(str(database))) as connection, connection:
            connection.execute("INSERT OR IGNORE INTO content VALUES (?, ?)", found)

    return plant


# By its name: what plants a fault.
FAULTS: Mapping[str, Callable[[Library, Marked], Plant]] = {
    "a memory that cites it": _memory,
    "a cached answer that cites it": _cached,
    "its chunks in the database": _row("chunk", "document"),
    "its text in the database": _row("body", "document"),
    "its bytes in the database": _content,
    "a copy of its text in a file": _file("background/left.bin"),
    "a blob that nothing names": _file("blobs/00/" + "0" * 64),
}
