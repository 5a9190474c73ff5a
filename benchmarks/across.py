"""Questions in one language over documents in another, and over a library of five languages.

    python benchmarks/across.py FOLDER [--embedder built-in|none|MODEL_FOLDER ...]
        [--check] [--marks FILE] [--write]

FOLDER holds the packages that ``across/README.md`` names, as ``apt-get download`` fetches them.
Their pages in one language become a library; the questions of ``across/questions.jsonl`` are asked
in another. ``--check`` proves the facts of the questions by the libraries, ``--marks`` writes what
became of each question, and ``--write`` keeps the result in ``benchmarks/results/across.*``.
"""

import argparse
import html
import json
import re
import subprocess
import sys
import tarfile
import warnings
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.append(str(Path(__file__).parent / "natural"))

from chapterhouse.library import Library
from libraries import label_of, made_of, search
from marking import HITS, Facts, share
from measuring import Bar, Machine, Row, Table, finish
from plain_text import comparable
from vector_cache import vectors_cached

QUESTIONS = Path(__file__).parent / "across" / "questions.jsonl"
LANGUAGES = ("en", "de", "fr", "es", "it", "ja", "zh")
MIXED = "mixed"
MIXED_LANGUAGES = ("en", "de", "fr", "it", "es")
MIXED_PAGES = 80  # of each language
LIBRARY_PAGES = 300
HELD_OUT = 20  # one page in so many is held out of the encoder's training, in all languages
LEAST, MOST = 600, 12_000  # characters of a page
LINE = 60  # characters of a line that tells whether a page is translated
SAME = 0.4  # of a page's lines may stand as in English: examples and names do
LONGEST_FACT = 60  # characters
WORDS_ALONE = "none"

_PATHS = [
    re.compile(pattern)
    for pattern in (
        r"/libreoffice/help/(?P<language>[^/]+)/text/(?P<page>.+)\.html$",
        r"/gimp/2\.0/help/(?P<language>[^/]+)/(?P<page>[^/]+)\.html$",
        r"/debian-handbook/html/(?P<language>[^/]+)/(?P<page>[^/]+)\.html$",
        r"/installation-guide-amd64/(?P<language>[^/]+)/(?P<page>[^/]+)\.html$",
        r"/debian-reference/(?P<page>[^/.]+)\.(?P<language>[^/.]+)\.html$",
        r"/debian/FAQ/(?:[^/]+/)?(?P<page>[^/.]+)\.(?P<language>[^/.]+)\.html$",
        r"/aptitude/html/(?P<language>[^/]+)/(?P<page>[^/]+)\.html$",
    )
]
_WORD = re.compile(r"[a-zß-ɏ]{3,}")  # of Latin letters, between Japanese and Chinese, too
_OTHER_COUNTRY = re.compile(r"(?i)en[-_]gb|zh[-_]tw|pt[-_]br")
_NO_TEXT = re.compile(r"(?s)<(script|style|head|nav)\b.*?</\1>|<[^>]+>")

Pages = Mapping[str, Mapping[str, bytes]]  # by language, then family/page


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and where its answer is.

    Attributes:
        id: Unique.
        language: Of the question.
        library: Language of the pages that it is put to, or ``mixed``.
        page: Family and page that answer it, with a slash between.
        facts: Of the answer, each as alternatives of short strings; none in a mixed library.
    """

    id: str
    language: str
    question: str
    library: str
    page: str
    facts: Facts = ()


@dataclass(frozen=True, slots=True)
class Mark:
    """What became of a question.

    Attributes:
        in_hits: Whether all facts are in those of the first 3 and 8 hits that are of the page.
        first: Whether the first hit is of the page.
        shared: Whether a word of the question stands in the page.
    """

    question: Question
    in_hits: tuple[bool, ...]
    first: bool
    shared: bool


def read_questions() -> list[Question]:
    """Return all questions."""
    return [Question(**json.loads(line)) for line in QUESTIONS.read_text("utf-8").splitlines()]


def is_held_out(page: str) -> bool:
    """Whether a page is kept from the training of the encoder, in all languages."""
    return zlib.crc32(page.encode()) % HELD_OUT == 0


# --- pages ---------------------------------------------------------------------------------------


def read_pages(folder: Path) -> Pages:
    """Return the pages of all packages in a folder, without those that nobody has translated.

    Raises:
        SystemExit: the folder holds no packages.
    """
    packages = sorted(folder.glob("*.deb"))
    if not packages:
        raise SystemExit(f"{folder} holds no packages: fetch those that across/README.md names")
    pages: dict[str, dict[str, bytes]] = defaultdict(dict)
    for package in packages:
        for language, name, data in _pages(package):
            pages[language][name] = data
    english = {name: _lines(data) for name, data in pages["en"].items()}
    return {
        language: {
            name: data
            for name, data in own.items()
            if language == "en" or _is_translated(_lines(data), english.get(name, set()))
        }
        for language, own in pages.items()
    }


def _pages(package: Path) -> Iterator[tuple[str, str, bytes]]:
    """Yield language, family/page and content of a package's pages that are worth a question."""
    family = re.sub(r"(-doc)?-[a-z]{2}(-[a-z]{2})?$", "", package.name.partition("_")[0])
    with (
        subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE) as reader,
        tarfile.open(fileobj=reader.stdout, mode="r|") as archive,
    ):
        for member in archive:
            found = next(filter(None, (path.search(member.name) for path in _PATHS)), None)
            if not found or not member.isfile() or _OTHER_COUNTRY.match(found["language"]):
                continue
            language, stream = found["language"][:2].lower(), archive.extractfile(member)
            if language in LANGUAGES and stream:
                yield language, f"{family}/{found['page']}", stream.read()


def _text(data: bytes) -> str:
    return html.unescape(_NO_TEXT.sub("\n", data.decode("utf-8", "replace")))


def _lines(data: bytes) -> set[str]:
    return {line.strip() for line in _text(data).splitlines() if len(line.strip()) >= LINE}


def _is_translated(lines: set[str], english: set[str]) -> bool:
    return len(lines & english) <= SAME * len(english)


def lay_out(pages: Pages, library: str, questions: Sequence[Question], target: Path) -> None:
    """Write the pages of a library: those of its questions, and others in an order of chance."""
    if library == MIXED:
        for place, language in enumerate(MIXED_LANGUAGES):
            wanted = [question.page for question in questions if question.language == language]
            others = {
                name: data
                for name, data in pages[language].items()
                if zlib.crc32(name.encode()) % len(MIXED_LANGUAGES) == place
                and name not in {question.page for question in questions}
            }
            own = {name: pages[language][name] for name in wanted} | others
            _write(own, wanted, MIXED_PAGES, target / language)
    else:
        _write(pages[library], [question.page for question in questions], LIBRARY_PAGES, target)


def _write(pages: Mapping[str, bytes], wanted: Iterable[str], count: int, target: Path) -> None:
    """Write pages into a folder: the wanted, then others that are neither short nor long."""
    chosen = list(dict.fromkeys(wanted))
    for name in sorted(pages.keys() - set(chosen), key=lambda name: zlib.crc32(name.encode())):
        if len(chosen) < count and LEAST <= len(" ".join(_text(pages[name]).split())) <= MOST:
            chosen.append(name)
    for name in chosen:
        path = target / f"{name}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(pages[name])


@contextmanager
def opened(
    pages: Pages, library: str, questions: Sequence[Question], choice: str
) -> Iterator[Library]:
    """Make a library of pages in one language, or of the mixed ones, and remove it in the end."""
    with TemporaryDirectory(prefix="across-") as name:
        documents = Path(name) / "documents"
        lay_out(pages, library, questions, documents)
        with made_of(documents, choice) as made:
            yield made


# --- marking -------------------------------------------------------------------------------------


def has_facts(text: str, facts: Facts) -> bool:
    """Whether a text has one alternative of every fact, spaces apart: Japanese has none."""
    compared = _joined(text)
    return all(any(_joined(each) in compared for each in fact) for fact in facts)


def _joined(text: str) -> str:
    return "".join(comparable(text).split())


def mark(library: Library, question: Question, page: str) -> Mark:
    """Ask a question of a library; ``page`` is the text of the page that answers it."""
    hits = search(library, question.question)
    own = [hit.shown if hit.document == document_of(question) else "" for hit in hits]
    in_hits = tuple(
        any(own[:count]) and has_facts("\n".join(own[:count]), question.facts) for count in HITS
    )
    return Mark(
        question, in_hits, bool(own and own[0]), bool(_words(question.question) & _words(page))
    )


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))


def texts_of(library: Library) -> dict[str, str]:
    """Return title and text of each document by its name, as Chapterhouse reads it."""
    return {
        document.source.partition("/")[
            2
        ]: f"{document.title}\n{library.documents.body(document.id).text}"
        for document in library.documents.list()
    }


def document_of(question: Question) -> str:
    """Return the name of the document that answers a question in its library."""
    folder = f"{question.language}/" if question.library == MIXED else ""
    return f"{folder}{question.page}.html"


def check(texts: Mapping[str, str], questions: Sequence[Question]) -> Iterator[str]:
    """Yield what is wrong with questions by the texts of a library."""
    for question in questions:
        own = document_of(question)
        if not is_held_out(question.page):
            yield f"{question.id}: {question.page} is not held out of the training"
        for each in (each for fact in question.facts for each in fact):
            if len(each) > LONGEST_FACT or not has_facts(texts.get(own, ""), [[each]]):
                yield f"{question.id}: '{each}' is too long or not in {own}"
        for name, text in texts.items() if question.facts else ():
            if name != own and has_facts(text, question.facts):
                yield f"{question.id}: {name} has the whole answer, too"


# --- running -------------------------------------------------------------------------------------


def run(
    folder: Path, questions: Sequence[Question], choices: Sequence[str], *, checked: bool
) -> tuple[dict[str, list[Mark]], list[str]]:
    """Return the marks of all questions by embedder, and what is wrong with the questions.

    Raises:
        SystemExit: a package is missing.
    """
    marks: dict[str, list[Mark]] = {label_of(choice): [] for choice in choices}
    wrong: list[str] = []
    pages = read_pages(folder)
    for question in questions:
        language = question.language if question.library == MIXED else question.library
        if question.page not in pages.get(language, {}):
            raise SystemExit(f"{folder} lacks {question.page} ({language}): see across/README.md")
    for name in (*LANGUAGES, MIXED):
        own = [question for question in questions if question.library == name]
        for choice in choices if own else ():
            with opened(pages, name, own, choice) as library:
                texts = texts_of(library)
                marks[label_of(choice)] += [
                    mark(library, question, texts[document_of(question)]) for question in own
                ]
                wrong += check(texts, own) if checked and choice == WORDS_ALONE else ()
            print(f"{label_of(choice)} {name}: {len(own)} questions", flush=True)
    return marks, wrong


def tables(runs: Mapping[str, Sequence[Mark]]) -> Iterator[Table]:
    """Yield shares in percent: facts by pair, and the right page first in a mixed library."""
    across = {label: [one for one in own if not _is_mixed(one)] for label, own in runs.items()}
    pairs = dict.fromkeys(
        (one.question.language, one.question.library) for one in across[WORDS_ALONE]
    )
    groups: dict[str, Callable[[Mark], bool]] = {
        **{f"{asked} → {library}": _is_of(asked, library) for asked, library in pairs},
        "all over English": lambda one: one.question.library == "en",
        "all others": lambda one: one.question.library != "en",
        "no word of the page": lambda one: not one.shared,
        "a word of the page": lambda one: one.shared,
        "all": lambda _: True,
    }
    columns = [f"{label}, in {count}" for label in runs for count in HITS]
    yield Table(
        "Facts in the first hits",
        ("pair", "questions", *columns),
        tuple(_row(name, across, group) for name, group in groups.items()),
    )
    asked = dict.fromkeys(one.question.language for one in runs[WORDS_ALONE] if _is_mixed(one))
    firsts = {each: [first_of(own, each) for own in runs.values()] for each in asked}
    yield Table(
        "Right page first in a mixed library",
        ("language", "questions", *runs),
        tuple((each, len(own[0]), *map(str, map(share, own))) for each, own in firsts.items()),
    )


def _is_mixed(one: Mark) -> bool:
    return one.question.library == MIXED


def _is_of(language: str, library: str) -> Callable[[Mark], bool]:
    return lambda one: (one.question.language, one.question.library) == (language, library)


def _row(name: str, runs: Mapping[str, Sequence[Mark]], group: Callable[[Mark], bool]) -> Row:
    chosen = [[one for one in own if group(one)] for own in runs.values()]
    cells = [
        str(share([one.in_hits[place] for one in own]))
        for own in chosen
        for place in range(len(HITS))
    ]
    return (name, len(chosen[0]), *cells)


def first_of(marks: Sequence[Mark], language: str) -> list[bool]:
    """Return for each question of a language to a mixed library whether its page came first."""
    return [one.first for one in marks if _is_of(language, MIXED)(one)]


def bars(runs: Mapping[str, Sequence[Mark]]) -> Iterator[Bar]:
    """Yield that vectors put the right page of a mixed library first no less often than words."""
    for label, own in runs.items():
        for language in MIXED_LANGUAGES:
            words = first_of(runs[WORDS_ALONE], language)
            if label != WORDS_ALONE and words:
                least = sum(words)
                value = sum(first_of(own, language))
                yield Bar(f"{label}: right page first, {language} in five languages", value, least)


def write_marks(path: Path, runs: Mapping[str, Sequence[Mark]]) -> None:
    """Write one JSON object a question and embedder."""
    rows = [
        {"embedder": label, "id": one.question.id, "in_hits": one.in_hits, "first": one.first}
        for label, own in runs.items()
        for one in own
    ]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--embedder", nargs="+", default=["built-in"], dest="embedders")
    parser.add_argument("--check", action="store_true", help="prove the questions by the pages")
    parser.add_argument("--marks", type=Path, help="write what became of each question")
    parser.add_argument("--write", action="store_true", help="keep the result")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    machine = Machine()
    choices = list(dict.fromkeys([WORDS_ALONE, *chosen.embedders]))
    with vectors_cached():
        runs, wrong = run(chosen.folder, read_questions(), choices, checked=chosen.check)
    if chosen.marks:
        write_marks(chosen.marks, runs)
    if wrong:
        raise SystemExit("\n".join(wrong))
    title = "Questions in one language over documents in another"
    measured = (title, list(bars(runs)), list(tables(runs)), machine.setting(), (MEASURES,))
    return finish("across", *measured, write=chosen.write)


MEASURES = (
    "Shares in percent with 95 % intervals by resampling the questions. In 3 and 8: all facts of a "
    "question are in those of the first 3 or 8 hits that are of the page that answers it; by pair: "
    "language of the question → language of the library. None: words alone. No word of the page: "
    "none of the question, of three letters or more, stands in it. Every page asked for is "
    "held out of the training of the encoder in all languages; the pages around it are not."
)


if __name__ == "__main__":
    sys.exit(main())
