"""The folders of the natural collection: which files of the shared data each holds, laid out anew.

Seven are folders of ``../shared/data/folders`` as they are; three are made of
``../shared/data/documents`` (office files by list, web pages by the first letter of their digest).
"""

import gzip
import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Part = Literal["open", "test"]

PARTS: dict[str, Part] = {
    "site-policies": "open",
    "manual": "open",
    "contracts": "open",
    "guides-fr": "open",
    "office": "open",
    "press": "open",
    "terms": "test",
    "minutes": "test",
    "web": "test",
    "magazine": "test",
}
"""Which folders choices may look at (open), and which are opened to report only (test)."""

_AS_THEY_ARE = ("site-policies", "terms", "manual", "minutes", "contracts", "guides-fr", "web")
_NOT_DOCUMENTS = re.compile(r"(^|/)(LICENSE|LICENSE\.md|README\.rst|_SOURCE\.tsv)$")


@dataclass(frozen=True, slots=True)
class Source:
    """A file of a folder: its name in the folder, and where its bytes are (maybe compressed)."""

    name: str
    path: Path


def sources(folder: str, data: Path) -> list[Source]:
    """Return a folder's files by name.

    Raises:
        KeyError: there is no such folder.
    """
    PARTS[folder]
    if folder in _AS_THEY_ARE:
        found = list(_whole(data / "folders" / folder))
    elif folder == "office":
        found = list(_office(data / "documents"))
    else:
        found = list(_pages(data / "documents" / "article-extraction-benchmark", folder))
    return sorted(found, key=lambda source: source.name)


def lay_out(folder: str, data: Path, target: Path) -> Path:
    """Copy a folder's files below ``target`` and return the folder made."""
    made = target / folder
    for source in sources(folder, data):
        path = made / source.name
        path.parent.mkdir(parents=True, exist_ok=True)
        if source.path.suffix == ".gz":
            path.write_bytes(gzip.decompress(source.path.read_bytes()))
        else:
            shutil.copyfile(source.path, path)
    return made


def _whole(root: Path) -> Iterator[Source]:
    for path in root.rglob("*"):
        name = path.relative_to(root).as_posix()
        if path.is_file() and not _NOT_DOCUMENTS.search(name):
            yield Source(name, path)


def _office(root: Path) -> Iterator[Source]:
    listed = (Path(__file__).parent / "office.txt").read_text("utf-8").split("\n")
    for line in filter(None, map(str.strip, listed)):
        yield Source(line.rsplit("/", 1)[-1], root / line)


def _pages(root: Path, folder: str) -> Iterator[Source]:
    first_half = folder == "press"
    articles = json.loads((root / "ground-truth.json").read_text("utf-8"))
    for digest, article in articles.items():
        if (digest[0] in "01234567") == first_half:
            name = f"{_slug(article['url'])}.{digest[:4]}.html"
            yield Source(name, root / "html" / f"{digest}.html.gz")


def _slug(url: str) -> str:
    host, _, path = re.sub(r"^https?://(www\.)?", "", url).partition("/")
    words = re.sub(r"\.html?$|[?#].*$", "", path).rstrip("/").rsplit("/", 1)[-1]
    return re.sub(r"[^A-Za-z0-9.-]+", "-", f"{host}.{words[:48]}").strip("-.")
