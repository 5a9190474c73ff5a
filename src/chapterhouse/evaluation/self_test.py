"""What shows that an installation works: files read, found, quoted, removed.

It goes the way of every document and question, in a library of its own with the settings that
come with Chapterhouse, of which nothing stays.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from chapterhouse.errors import ChapterhouseError
from chapterhouse.library import Library
from chapterhouse.library.opening import make_home, open_runtime
from chapterhouse.settings import Settings
from chapterhouse.types import Check, Status

QUESTION: Final = "When does the ferry to Osk leave?"
_LINE: Final = "The ferry to Osk leaves at 07:40 from pier 3."
_REPHRASED: Final = "How long is a forgotten umbrella stored?"  # shares no word with its answer
_PROPERTY: Final = "Lost property is kept for six weeks."
# A page of one line: the smallest PDF that every reader opens.
_PDF: Final = b"""%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 200]/Contents 4 0 R\
/Resources<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>endobj
4 0 obj<</Length 67>>stream
BT /F 12 Tf 40 100 Td (The crane on the north quay lifts 12 tonnes.) Tj ET
endstream endobj
trailer<</Root 1 0 R>>
"""
_FILES: Final = {
    "timetable.md": f"# Timetable\n\n{_LINE}\n".encode(),
    "crane.pdf": _PDF,
    "fees.csv": b"Berth,Fee a night\nGuest,22\nResident,9\n",
    "notice.html": f"<html><body><h1>Notice</h1><p>{_PROPERTY}</p></body></html>".encode(),
    "letter.eml": b"From: Ida <ida@example.org>\nSubject: Paint\n\nThe boat shed needs paint.\n",
}


def try_installation() -> Iterator[Check]:
    """Yield what was tried, one after the other; nothing more behind what failed."""
    with TemporaryDirectory(prefix="chapterhouse-", ignore_cleanup_errors=True) as name:
        home = Path(name)
        make_home(home, home / "workspaces" / "default")
        for file, content in _FILES.items():
            (home / file).write_bytes(content)
        with Library(open_runtime(home, "default", Settings())) as library:
            for what, trial in _TRIALS.items():
                yield (check := _tried(what, trial, library))
                if not check.passed:
                    return


def _tried(name: str, trial: Callable[[Library], tuple[bool, str]], library: Library) -> Check:
    began, hint = time.perf_counter(), ""
    try:
        passed, sentence = trial(library)
    except ChapterhouseError as error:
        passed, sentence, hint = False, error.message, error.hint
    return Check(name, passed, f"{sentence} ({time.perf_counter() - began:.1f} s)", hint)


def _read(library: Library) -> tuple[bool, str]:
    report = library.documents.add(*(library.home / name for name in _FILES))
    read = report.count(Status.READY)
    return read == len(_FILES), f"{read} of {len(_FILES)} files of as many formats were read."


def _find(library: Library) -> tuple[bool, str]:
    library.encoders.embed_pending()
    found = any(_PROPERTY in hit.chunk.text for hit in library.search.hits(_REPHRASED).hits)
    return found, f"What is said in other words was {'' if found else 'not '}found."


def _answer(library: Library) -> tuple[bool, str]:
    citations = library.answers.ask(QUESTION).citations
    right = any(citation.quote == _LINE for citation in citations)
    return right, f"A question was {'' if right else 'not '}answered by the line that answers it."


def _verify(library: Library) -> tuple[bool, str]:
    answer = library.answers.ask(QUESTION)
    forged = replace(answer.citations[0], quote=_LINE.replace("07:40", "08:40"))
    (true,), (false,) = (
        library.answers.recheck(replace(answer, citations=(citation,)))
        for citation in (answer.citations[0], forged)
    )
    if true.holds and not false.holds:
        return True, "Its quotation was checked, and a forged one was noticed."
    return False, "A true quotation and a forged one were not told apart."


def _remove(library: Library) -> tuple[bool, str]:
    library.documents.remove("timetable.md")
    left = any(_LINE in hit.chunk.text for hit in library.search.hits(QUESTION).hits)
    return not left, f"A document was removed, and its text is {'still' if left else 'not'} found."


_TRIALS: Final = {
    "read": _read, "find": _find, "answer": _answer, "verify": _verify, "remove": _remove,
}  # fmt: skip
