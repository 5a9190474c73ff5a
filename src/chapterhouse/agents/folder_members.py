"""Members of a council from a folder: one for each file or subfolder, with names that differ."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from itertools import takewhile
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from chapterhouse.agents.council_model import CHAIR, MOST_MEMBERS, Member
from chapterhouse.agents.definition import LONGEST_NAME, is_text
from chapterhouse.connectors.folder import walk
from chapterhouse.errors import NotFoundError, UsageError
from chapterhouse.text.canonical import stated_date
from chapterhouse.text.naming import printable_name, slug, storable_path
from chapterhouse.text.sanitise import sanitise_line
from chapterhouse.types import Document

_LONGEST_TITLE: Final = 60  # characters; a longer one is no name, and the file's is taken
_NO_FILE: Final = frozenset(("symbolic-link", "not-a-file"))


def folder_members(*paths: str) -> tuple[Member, ...]:
    """Return a member for each file and each subfolder, in natural order within each path.

    Args:
        paths: Folders; or patterns of names in one, as ``contracts/2024*``.

    Raises:
        NotFoundError: there is nothing.
        UsageError: there are more than a council may have, or a name is no text.
    """
    found = tuple(dict.fromkeys(one for path in paths for one in _places(path)))
    if len(found) > MOST_MEMBERS:
        raise UsageError(
            f"There are {len(found)} files and folders in {', '.join(paths)}; a council has at"
            f" most {MOST_MEMBERS} members.",
            hint="Name fewer, in quotes: 'FOLDER/2024*'. Or sort them into subfolders: one each.",
        )
    names = _distinct([_file_name(place.expanduser()) for place in found])
    return tuple(
        Member(name=name, folders=(str(place),)) for name, place in zip(names, found, strict=True)
    )


def _places(path: str) -> list[Path]:
    """Return the files and subfolders that a folder or a pattern means, as its owner wrote it."""
    place = Path(path).expanduser()
    folder, pattern = (place, "*") if place.is_dir() else (place.parent, place.name)
    entries = sorted(set(_entries(folder, pattern)), key=_natural) if folder.is_dir() else []
    if not entries:
        raise NotFoundError(
            f"There is no file and no folder with files in {path}.",
            hint="Name a folder that has one for each member; or in quotes: 'FOLDER/2024*'.",
        )
    base = Path(path) if place.is_dir() else Path(path).parent
    return [base / entry for entry in entries]


def name_by_documents(
    members: Sequence[Member], documents: Mapping[str, Sequence[Document]]
) -> tuple[Member, ...]:
    """Return members who are called as their documents are, and in the order of these names.

    A member's only document gives its title, or its title and date; a member with several keeps
    their name. Where neither tells all members apart, all keep their names.

    Args:
        members: Some with folders of their own, who alone may get other names.
        documents: What each of them reads, by key.
    """
    own = [member for member in members if member.folders]
    only = [_only(documents.get(member.key, ())) for member in own]
    others = tuple(member for member in members if not member.folders)
    for name_of in (_title, _dated_title):
        names = [
            name_of(document) if document else member.name
            for member, document in zip(own, only, strict=True)
        ]
        keys = {*map(slug, names), *(member.key for member in others)} - {CHAIR}
        if len(keys) == len(members) and all(0 < len(name) <= _LONGEST_TITLE for name in names):
            named = [replace(one, name=name) for one, name in zip(own, names, strict=True)]
            return (*others, *sorted(named, key=lambda one: _natural(one.name)))
    return tuple(members)


def _entries(folder: Path, pattern: str) -> Iterator[str]:
    """Yield the first name below ``folder`` of every file that can be read."""
    for file in walk(folder):
        if not file.parts or (file.problem and file.problem.code in _NO_FILE):
            continue
        name = file.parts[0]
        if not is_text(name):
            sentence = f"The name of {storable_path(str(folder / name))} is not UTF-8."
            raise UsageError(sentence, hint="Rename it.")
        if fnmatchcase(name, pattern):
            yield name


def _file_name(path: Path) -> str:
    """Return the name of a file or folder as people say it."""
    name = printable_name(unquote(path.name if path.is_dir() else path.stem))
    return sanitise_line(re.sub(r"[_+\s]+|(?<!\d)-+|-+(?!\d)", " ", name)).strip()


def _distinct(names: Sequence[str]) -> list[str]:
    """Return names that give keys of their own: without their first words in common, or numbered.

    Keys are short, so long names may differ only behind what a key holds.
    """
    alike = [[one.split() for one in names if slug(one) == slug(name)] for name in names]
    ends = [
        " ".join(name.split()[_in_common(group) :]) if len(group) > 1 else name
        for name, group in zip(names, alike, strict=True)
    ]
    keys = _keys(ends)
    return [
        (end if end and keys[slug(end)] == 1 else f"{number}. {name}")[:LONGEST_NAME].strip()
        for number, (name, end) in enumerate(zip(names, ends, strict=True), 1)
    ]


def _in_common(names: Sequence[Sequence[str]]) -> int:
    """Count the first words that all names have in common."""
    columns = zip(*names, strict=False)
    return sum(1 for _ in takewhile(lambda words: len(set(words)) == 1, columns))


def _keys(names: Sequence[str]) -> Counter[str]:
    return Counter((CHAIR, *map(slug, names)))


def _only(documents: Sequence[Document]) -> Document | None:
    return documents[0] if len(documents) == 1 else None


def _title(document: Document) -> str:
    return unquote(document.title)


def _dated_title(document: Document) -> str:
    date = stated_date(document)
    return f"{_title(document)}, {date}" if date else ""


def _natural(name: str) -> list[tuple[int, str]]:
    """Order names as people do: 2 before 10, and no capitals before all others."""
    parts = re.split(r"(\d+)", name.casefold())
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]
