"""Documents cut again beside the library that serves: what it answers meanwhile, kills, exactness.

    python benchmarks/rebuild.py

A library of 40 documents, with the built-in table, is rebuilt after a change of ``[chunking]``.
While another process builds, 200 questions are asked of the old library. Twenty more processes are
killed at random moments; each time the old library is verified and asked. At the end the new one is
compared with one made from scratch, both with new indexes, and after the way back with what
was before. Takes two minutes.
"""

import random
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from chapterhouse.library import Library
from data_folder import data_folder
from measuring import Bar, Machine, Table, finish
from scale_corpus import documents, sentences

DOCUMENTS = 40
KILLS = 20
ASKED = 200
LONGEST = 5.0  # seconds until a kill
TABLE = '[embedding]\nengine = "static"\n'
OTHERWISE = f'{TABLE}[chunking]\nstrategy = "sentence"\nmaximum = 400\n'
BUILD = "import sys; from chapterhouse import Library; Library.rebuild(sys.argv[1])"
Ranking = list[tuple[str, int, int, float]]


def ranking(library: Library, question: str) -> Ranking:
    hits = library.search.hits(question, limit=10).hits
    return [(hit.document.id, hit.chunk.start, hit.chunk.end, hit.score) for hit in hits]


def rankings(home: Path, questions: list[str], *, reindex: bool = False) -> list[Ranking]:
    with Library.open(home, create=False) as library:
        if reindex:
            library.reindex()
        return [ranking(library, question) for question in questions]


def filled(home: Path, folder: Path) -> None:
    with Library.open(home) as library:
        library.documents.add(folder)
        library.encoders.embed_pending()


def started(home: Path) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-c", BUILD, str(home)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def answered(home: Path, questions: list[str], before: list[Ranking]) -> tuple[int, float]:
    """Ask while another process builds; return how many were answered as before, and seconds."""
    right, asked, seconds = 0, 0, 0.0
    with Library.open(home, create=False) as library:
        began = time.perf_counter()
        building = started(home)
        while asked < ASKED or building.poll() is None:
            at = asked % len(questions)
            right += ranking(library, questions[at]) == before[at] and asked < ASKED
            asked += 1
            if building.poll() is not None and not seconds:
                seconds = time.perf_counter() - began
    return right, seconds or time.perf_counter() - began


def killed(
    home: Path, questions: list[str], before: list[Ranking], seconds: float
) -> Iterator[tuple[float, bool, bool]]:
    """Yield for each kill: after how long, whether all is whole, whether it was exchanged."""
    chance = random.Random(11)
    for _ in range(KILLS):
        building = started(home)
        wait = chance.uniform(0.2, min(seconds, LONGEST))
        time.sleep(wait)
        building.kill()
        building.wait()
        with Library.open(home, create=False) as library:
            is_new = library.status().cut_otherwise == 0
        if is_new:  # it was killed after the exchange, or had ended
            Library.rebuild_back(home)
            Library.rebuild_forget(home)
        sound = not Library.verify(home, quick=True).findings
        yield wait, sound and rankings(home, questions) == before, is_new


def main() -> int:
    machine = Machine()
    with TemporaryDirectory() as name:
        place = Path(name)
        folder = place / "documents"
        folder.mkdir()
        texts = list(islice(documents(sentences(data_folder()), seed=5), DOCUMENTS))
        for number, text in enumerate(texts):
            (folder / f"note-{number:02}.md").write_text(f"# Note {number}\n\n{text}\n")
        questions = [" ".join(text.split()[40:48]) for text in texts[:20]]
        home, scratch = place / "home", place / "scratch"
        home.mkdir()
        (home / "chapterhouse.toml").write_text(TABLE)
        filled(home, folder)
        before = rankings(home, questions, reindex=True)
        (home / "chapterhouse.toml").write_text(OTHERWISE)
        right, seconds = answered(home, questions, before)
        Library.rebuild_forget(home)
        kills = list(killed(home, questions[:5], before[:5], seconds))
        Library.rebuild(home)
        scratch.mkdir()
        (scratch / "chapterhouse.toml").write_text(OTHERWISE)
        filled(scratch, folder)
        now = rankings(home, questions, reindex=True)
        made = rankings(scratch, questions, reindex=True)
        Library.rebuild_back(home)
        back = rankings(home, questions)
    equal = sum(one == other for one, other in zip(now, made, strict=True))
    moved = sum(one != other for one, other in zip(now, before, strict=True))
    returned = sum(one == other for one, other in zip(back, before, strict=True))
    bars = [
        Bar(f"of {ASKED} questions asked while it was built, answered as before", right,
            least=ASKED),
        Bar(f"of {KILLS} kills, the old library whole and ranking as before",
            sum(whole for _, whole, _ in kills), least=KILLS),
        Bar("of 20 questions, ranked and scored as by one made from scratch", equal, least=20),
        Bar("of 20 questions, ranked otherwise than before the change", moved, least=1),
        Bar("of 20 questions, ranked and scored as before after --back", returned, least=20),
    ]  # fmt: skip
    rows = tuple(
        (number, round(wait, 2), "yes" if whole else "NO", "yes" if is_new else "no")
        for number, (wait, whole, is_new) in enumerate(kills, start=1)
    )
    table = Table(
        "Kills", ("kill", "seconds after the start", "whole", "exchanged already"), rows,
        note=f"One build took {seconds:.1f} s while questions were asked.",
    )  # fmt: skip
    return finish("rebuild", "Cut again while it serves", bars, [table], machine.setting())


if __name__ == "__main__":
    sys.exit(main())
