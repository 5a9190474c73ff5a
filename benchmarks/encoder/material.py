"""The texts that the encoder is made on, in many languages and without labels.

    python benchmarks/encoder/material.py FOLDER

* documentation that Debian ships in many languages: the packages of ``packages.txt``, fetched with
  ``apt-get download`` into ``FOLDER/debs``. Pages of one name are one page in several languages;
* descriptions of Debian's packages: the ``Translation-*`` files that ``apt-get update`` leaves in
  ``FOLDER/apt/lists`` with the options ``Dir::State::Lists`` and ``Acquire::Languages``;
* chunks of the open natural folders (not the test folders) and the open English collections.

Each line of ``FOLDER/texts.jsonl`` is a passage: language, source, page, title, text, and whether
its page is held out. One page in twenty is, in all its languages.
"""

import argparse
import gzip
import html
import json
import re
import struct
import subprocess
import sys
import tarfile
import zlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.append(str(Path(__file__).parents[1]))
sys.path.append(str(Path(__file__).parents[1] / "natural"))

from chapterhouse.library import Library
from chapterhouse.types import Chunk
from folders import PARTS, lay_out
from measuring import data_folder

LONGEST = 700  # characters of a passage, as the product's chunks
SHORTEST = 40
HELD_OUT = 20  # one page in so many
COLLECTIONS = ("2wiki-open", "anthropic-docs", "cacm", "cisi", "cranfield", "med", "npl")

_PATHS = [
    re.compile(pattern)
    for pattern in (
        r"/libreoffice/help/(?P<language>[^/]+)/text/(?P<page>.+)\.html$",
        r"/usr/share/help/(?P<language>[^/]+)/gnome-help/(?P<page>[^/]+)\.page$",
        r"/gimp/2\.0/help/(?P<language>[^/]+)/(?P<page>[^/]+)\.html$",
        r"/debian-handbook/html/(?P<language>[^/]+)/(?P<page>[^/]+)\.html$",
        r"/installation-guide-amd64/(?P<language>[^/]+)/(?P<page>[^/]+)\.html$",
        r"/debian-reference/(?P<page>[^/.]+)\.(?P<language>[^/.]+)\.html$",
        r"/debian/FAQ/(?:[^/]+/)?(?P<page>[^/.]+)\.(?P<language>[^/.]+)\.html$",
        r"/aptitude/html/(?P<language>[^/]+)/(?P<page>[^/]+)\.html$",
        r"/developers-reference/(?P<language>[^/_]+)/(?P<page>[^/.]+)\.html$",
        r"/maint-guide-[^/]+/html/(?P<page>[^/.]+)\.(?P<language>[^/.]+)\.html$",
        r"/stellarium/.*?(?P<page>[^/]+/description)\.(?P<language>[^/.]+)\.utf8$",
        r"/wesnoth/1\.16/locale/(?P<language>[^/]+)/LC_MESSAGES/(?P<page>.+)\.mo$",
        r"/usr/share/man/(?P<language>[^/]+)/(?P<page>man\d/.+)\.gz$",
        r"/games/fortunes/(?P<language>[a-z]{2})/(?P<page>[^/.]+)$",
    )
]
_HEADING = re.compile(r"<(?:h1|title)\b[^>]*>(.*?)</(?:h1|title)>", re.DOTALL)
_NO_TEXT = re.compile(
    r"<(script|style|info|nav|head)\b.*?</\1>"
    r"|<div class=.(?:navheader|navfooter|toc|list-of).*?</div>"
    r"|<ul class=.docnav.*?</ul>|<!--.*?-->",
    re.DOTALL,
)
_BLOCK = re.compile(r"</?(?:p|h\d|li|dd|dt|tr|td|th|div|br|table|item|section|title|pre)\b[^>]*>")
_SENTENCE = re.compile(r"(?<=[.!?؟।])\s+|(?<=[。！？])")


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage of a page; ``page`` is one name for all languages of it."""

    language: str
    source: str
    page: str
    title: str
    text: str
    held_out: bool


def passages(language: str, source: str, page: str, title: str, body: str) -> Iterator[Passage]:
    """Yield the passages of a page: whole paragraphs of at most 700 characters together."""
    held_out = zlib.crc32(f"{source}/{page}".encode()) % HELD_OUT == 0
    code = "en" if language == "C" else language[:2].lower()
    parts = [part for line in body.splitlines() for part in _cut(" ".join(line.split()))]
    text = ""
    for part in [*parts, None]:
        if text and (part is None or len(text) + len(part) >= LONGEST):
            letters = sum(character.isalpha() or character == " " for character in text)
            if len(text) >= SHORTEST and letters > 0.75 * len(text):
                yield Passage(code, source, page, title, text, held_out)
            text = ""
        if part:
            text = f"{text}\n{part}" if text else part


def _cut(line: str) -> Iterator[str]:
    """Yield a paragraph, or the sentences of one that is too long."""
    if len(line) <= LONGEST:
        yield line
    else:
        yield from (sentence[:LONGEST] for sentence in _SENTENCE.split(line))


def documentation(package: Path) -> Iterator[Passage]:
    """Yield the passages of a Debian package."""
    with subprocess.Popen(
        ["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE
    ) as reader:
        source = package.name.partition("_")[0]
        with tarfile.open(fileobj=reader.stdout, mode="r|") as archive:
            for member in archive:
                found = next(filter(None, (path.search(member.name) for path in _PATHS)), None)
                stream = archive.extractfile(member) if found and member.isfile() else None
                if found and stream:
                    language, page = found["language"], found["page"]
                    family = re.sub(r"(-doc)?-[a-z]{2}(-[a-z]{2})?$", "", source)
                    for title, body, part in _contents(member.name, stream.read()):
                        yield from passages(language, family, page + part, title, body)


def _contents(name: str, data: bytes) -> Iterator[tuple[str, str, str]]:
    """Yield title, text and what tells apart the parts of one file."""
    if name.endswith(".mo"):
        for message, translated in _catalogue(data):
            if len(message) > SHORTEST:
                yield "", translated, f"/{zlib.crc32(message.encode()):08x}"
    elif name.endswith(".gz"):
        yield "", _manual(gzip.decompress(data).decode("utf-8", "ignore")), ""
    elif name.endswith((".html", ".page", ".utf8")):
        source = data.decode("utf-8", "ignore")
        titles = _HEADING.findall(_NO_TEXT.sub("", source)) or _HEADING.findall(source)
        yield _plain(titles[0]) if titles else "", _plain(_NO_TEXT.sub("", source)), ""
    else:
        for number, part in enumerate(re.split(r"\n%\n", data.decode("utf-8", "ignore"))):
            yield "", part.replace("\n", " "), f"/{number}"


def _catalogue(data: bytes) -> Iterator[tuple[str, str]]:
    """Yield the messages of a compiled catalogue with what they are in its language."""
    count, messages, translations = struct.unpack_from("<3I", data, 8)
    for place in range(count):
        pair = []
        for table in (messages, translations):
            length, begin = struct.unpack_from("<2I", data, table + 8 * place)
            pair.append(data[begin : begin + length].decode("utf-8", "ignore").partition("\0")[0])
        yield pair[0], pair[1]


def _plain(source: str) -> str:
    whole = re.sub(r"\s+", " ", source)
    return html.unescape(re.sub(r"<[^>]+>", "", _BLOCK.sub("\n", whole))).strip()


def _manual(source: str) -> str:
    """Return the prose of a manual page: lines without a macro, escapes taken out."""
    text = re.sub(r"\\f[A-Z]|\\f\(..|\\f\[.*?\]|\\&|\\\\", "", source).replace("\\-", "-")
    lines = ("\n" if line.startswith((".", "'")) else line + " " for line in text.splitlines())
    return "".join(lines)


def descriptions(file: Path) -> Iterator[Passage]:
    """Yield the descriptions of packages in a language: title, and text if there is any."""
    language = file.name.rpartition("Translation-")[2].partition(".")[0]
    text = subprocess.run(["lz4cat", file], stdout=subprocess.PIPE, check=True).stdout.decode()
    for entry in text.split("\n\n"):
        found = re.search(r"Description-md5: (\w+)\nDescription-[^:]+: (.*)\n((?: .*\n?)*)", entry)
        if found:
            lines = (line[1:] for line in found[3].splitlines())
            body = "".join("\n" if line.strip() == "." else line + " " for line in lines)
            yield from passages(language, "descriptions", found[1], found[2], body)


def own_texts() -> Iterator[Passage]:
    """Yield chunks of the open natural folders and texts of the open English collections."""
    for folder, title, chunk in chunks():
        language = "fr" if folder == "guides-fr" else "en"
        yield Passage(language, folder, title, title, chunk.text, held_out=False)
    for collection in COLLECTIONS:
        for name in ("corpus.jsonl", "queries.jsonl"):
            lines = (data_folder() / "retrieval" / collection / name).read_text("utf-8")
            for row in map(json.loads, lines.splitlines()):
                text = " ".join((row.get("text") or "").split())[:LONGEST]
                title = row.get("title") or ""
                yield Passage("en", collection, str(row["_id"]), title, text, held_out=False)


def chunks() -> Iterator[tuple[str, str, Chunk]]:
    """Yield folder, title and chunk of the documents of the open natural folders."""
    for folder in (name for name, part in PARTS.items() if part == "open"):
        with TemporaryDirectory(prefix="encoder-") as name:
            documents = lay_out(folder, data_folder(), Path(name) / "documents")
            with Library.open(Path(name) / "home") as library:
                library.documents.add(documents)
                for document in library.documents.list():
                    for chunk in library.documents.chunks(document.id):
                        yield folder, document.title, chunk


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    seen: set[tuple[str, str]] = set()
    with (folder / "texts.jsonl").open("w", encoding="utf-8") as target:

        def write(made: Iterator[Passage]) -> None:
            for passage in made:
                if (passage.language, passage.text) not in seen:
                    seen.add((passage.language, passage.text))
                    target.write(json.dumps(asdict(passage), ensure_ascii=False) + "\n")

        for package in sorted((folder / "debs").glob("*.deb")):
            write(documentation(package))
        for file in sorted((folder / "apt/lists").glob("*bookworm_main_i18n_Translation-*")):
            write(descriptions(file))
        write(own_texts())


if __name__ == "__main__":
    main()
