"""Check what the program says about documents beside quotations: is every sentence true?

    python benchmarks/natural/said.py [FOLDER ...] [--part open|test|all]
        [--embedder built-in|none] [--write]

Every question of the open folders is asked, as it is and with a word in it that no folder has, and
what is on the screen beside the quotations is checked against the plain texts, which others
extract (``plain_text.py``), and against the names of the files. Case, marks on letters and endings
are folded here by other rules than the program's. A sentence of a kind that is not known here is
false: nothing may be said that is not checked.
"""

import argparse
import gzip
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))  # for the modules that all benchmarks share

from py3langid.langid import MODEL_FILE, LanguageIdentifier

from chapterhouse.library import Library
from chapterhouse.presenting.answers import answer_blocks
from chapterhouse.presenting.blocks import CitationBlock, Paragraph, Part, Words
from chapterhouse.types import Answer, Status
from folders import PARTS, sources
from libraries import opened
from measuring import Bar, Machine, Row, Table, data_folder, finish
from plain_text import comparable, plain_text
from questions import read_questions

FOREIGN = ("zeppelins", "Quetzalcoatl's", "Gürteltier", "kangaroo")
_WORD = re.compile(r"[^\W_]+")
ENDINGS = frozenset(
    word
    for words in ("s es e en er ern em n d ed ing x a o i as os", "is us um on al aux ly t te u ue")
    for word in words.split()
)
_LEAST = 3  # letters that are left before an ending
_COMPOUND = 5  # letters of a word that may be part of a longer one
_LANGUAGES = {"English": "en", "French": "fr", "German": "de", "Portuguese": "pt", "Spanish": "es"}
# Sentences that say nothing of documents, but of what is shown and how.
_OF_THE_SCREEN = re.compile(
    r"The closest passages:|This is likely the answer:"
    r"|I don't find this in the documents; it may be there in other words\.|Nearest headings:"
    r"|Searched also for: .*"
    r"|(?:Counting|Weighing|A summary) needs a model\. These are (?:the )?passages .*:"
)


@dataclass(frozen=True, slots=True)
class Texts:
    """The plain texts of a folder."""

    by_name: Mapping[str, str]
    words: frozenset[str]  # folded, of texts and names
    languages: frozenset[str]

    def forms(self, word: str) -> list[str]:
        """Return the words of the folder that are forms of a word or have it in them."""
        wanted = fold(word)
        stems = stems_of(wanted)
        return [
            other
            for other in self.words
            if not stems.isdisjoint(stems_of(other))
            or (len(wanted) >= _COMPOUND and wanted in other)
        ]


def fold(text: str) -> str:
    """Return a text in lower case without marks on letters."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    return "".join(letter for letter in plain if not unicodedata.combining(letter))


def stems_of(word: str) -> frozenset[str]:
    """Return a word, and what is left of it before each ending."""
    cut = {word[: -len(ending)] for ending in ENDINGS if word.endswith(ending)}
    return frozenset({word, *(one for one in cut if len(one) >= _LEAST)})


def texts_of(folder: str) -> Texts:
    """Read a folder as others do."""
    found = {}
    for source in sources(folder, data_folder()):
        data = source.path.read_bytes()
        found[source.name] = plain_text(
            source.name, gzip.decompress(data) if source.path.suffix == ".gz" else data
        )
    identify = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True).classify
    every = "\n".join(f"{name}\n{text}" for name, text in found.items())
    words = frozenset(fold(word) for word in set(_WORD.findall(every)))
    return Texts(found, words, frozenset(str(identify(text)[0]) for text in found.values()))


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence of the program: its kind, and why it is false, or nothing."""

    kind: str
    sentence: str
    fault: str = ""


def check(answer: Answer, texts: Texts, library: Library) -> Iterator[Said]:
    """Yield what the screen of an answer says beside quotations, checked."""
    quoted = comparable("\n".join(sentence.text for sentence in answer.sentences))
    for sentence in lines_of(answer_blocks(answer)):
        is_quoted = comparable(sentence.strip("»«")) in quoted
        if not is_quoted and not _OF_THE_SCREEN.fullmatch(sentence):
            yield from check_sentence(sentence, answer, texts, library)
    for one in answer.sentences:
        for note in filter(None, one.note.split("; ")):
            shown = re.fullmatch(r"(\d+) of (\d+) shown", note)
            fault = "" if shown and int(shown[1]) < int(shown[2]) else "unchecked"
            yield Said("shown", note, fault)


def check_sentence(sentence: str, answer: Answer, texts: Texts, library: Library) -> Iterator[Said]:
    """Yield a sentence of the program, or each word that it calls absent, checked."""
    documents = list(library.documents.list())
    number = int((re.search(r"\d[\d,]*", sentence) or ["0"])[0].replace(",", ""))
    if sentence.startswith("No document searched mentions "):
        for word in re.findall("“([^”]*)”", sentence):
            yield Said("absent", word, ", ".join(texts.forms(word)[:5]))
    elif "read only in part" in sentence:
        partial = sum(one.status is not Status.READY for one in documents)
        yield Said("in part", sentence, "" if number == partial else f"{partial} are")
    elif sentence.startswith("The documents are in "):
        named = {_LANGUAGES.get(word, word) for word in re.findall(r"[A-Z]\w+", sentence)}
        yield Said("languages", sentence, ", ".join(sorted(texts.languages - named)))
    elif sentence.startswith("Versions differ"):
        yield Said("versions", sentence, _fault_of_versions(answer, texts))
    elif sentence.startswith("A summary needs a model. This is how "):
        title = answer.citations[0].title
        yield Said("beginning", sentence, "" if title in sentence else f"it is of {title}")
    elif re.search(r"[Ss]earched [\d,]+ documents?,", sentence):
        fault = "" if number == len(documents) else f"{len(documents)} are there"
        yield Said("searched", sentence, fault)
    else:
        yield Said("of no known kind", sentence, "unchecked")


def lines_of(part: Part) -> Iterator[str]:
    """Yield what is said in a paragraph without a source, and in one about versions."""
    for block in part.blocks:
        if isinstance(block, Paragraph):
            cited = any(isinstance(piece, CitationBlock) for piece in block.line)
            text = "".join(piece.text for piece in block.line if isinstance(piece, Words))
            if not cited or text.startswith("Versions differ"):
                yield text.strip()
    for below in part.parts:
        yield from lines_of(below)


def _fault_of_versions(answer: Answer, texts: Texts) -> str:
    """Return which side of a difference is not in its document."""
    sources_by_number = {one.number: one for one in answer.citations}
    for one in answer.versions:
        for number, side in ((one.newer, 0), (one.older, 1)):
            cited = sources_by_number[number]
            text = comparable(texts.by_name.get(cited.source.partition("/")[2], ""))
            for values in one.values:
                if comparable(values[side]) not in text:
                    return f"{values[side]} is not in {cited.source}"
    return ""


def said_in(folder: str, choice: str) -> tuple[int, list[Said]]:
    """Return how many screens of a folder were looked at, and what they say."""
    texts = texts_of(folder)
    found: list[Said] = []
    screens = 0
    with opened(folder, choice) as library:
        for number, question in enumerate(read_questions(folder)):
            other = f"{question.question.rstrip('?! ')} {FOREIGN[number % len(FOREIGN)]}?"
            for text in (question.question, other):
                answer = library.answers.ask(text, model="none", remember=False)
                found += check(answer, texts, library)
                screens += 1
    return screens, found


def main() -> int:
    """Check the folders, print and maybe write the result."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folders", nargs="*", help="folders of the natural collection")
    parser.add_argument("--part", default="open", choices=("open", "test", "all"))
    parser.add_argument("--embedder", default="built-in", help="built-in or none")
    parser.add_argument("--write", action="store_true", help="keep the result")
    arguments = parser.parse_args()
    machine = Machine()
    names = arguments.folders or [
        name for name, part in PARTS.items() if arguments.part in {part, "all"}
    ]
    every: list[Said] = []
    rows: list[Row] = []
    screens = 0
    for name in names:
        looked_at, found = said_in(name, arguments.embedder)
        screens += looked_at
        every += found
        for one in found:
            if one.fault:
                print(f"{name}: {one.kind}: {one.sentence!r}: {one.fault}", flush=True)
        rows.append(_row(name, looked_at, found))
    bars = [
        Bar("screens looked at", screens, least=300),
        Bar("sentences that are false", sum(bool(one.fault) for one in every), most=0),
    ]
    heading = ("folder", "screens", "sentences", *KINDS, "false")
    tables = [
        Table("What is said beside quotations", heading, (*rows, _row("all", screens, every)))
    ]
    title = "What the program says about documents"
    return finish("said", title, bars, tables, machine.setting(), write=arguments.write)


KINDS = ("absent", "searched", "in part", "languages", "versions", "beginning", "shown")


def _row(name: str, screens: int, found: Sequence[Said]) -> Row:
    kinds = Counter(one.kind for one in found)
    faults = sum(bool(one.fault) for one in found)
    return (name, screens, len(found), *(kinds[kind] for kind in KINDS), faults)


if __name__ == "__main__":
    sys.exit(main())
