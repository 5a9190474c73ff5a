"""Reasons that a person has read beside the files: are they what is printed today?

    python benchmarks/reasons.py [--print] [--write]

``reasons_read.jsonl`` holds a hundred files of the shared data that are not plainly ready, what a
reader who does not know the code saw in each by other means, the state and the reasons that were
printed, and whether they are true. The files are added again here, and a reason that reads
otherwise by now is a miss: somebody has to look at it again. ``--print`` prints the rows with the
states and reasons of today, for the next reader. Takes about two minutes on two cores.
"""

import argparse
import json
import shutil
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from chapterhouse.library import Library
from chapterhouse.types import FileOutcome
from data_folder import data_folder
from measuring import Bar, Machine, Table, finish

READ = Path(__file__).with_name("reasons_read.jsonl")
WANTED = 100


def today(files: Sequence[str]) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Return the state and the reasons of each file below the shared data, by its name there."""
    data = data_folder()
    with TemporaryDirectory() as name:
        folder = Path(name).resolve() / "files"
        for file in sorted({_outermost(data, file) for file in files}):
            target = folder / file
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(data / file, target)
        with Library.open(Path(name) / "home") as library:
            outcomes = library.documents.add(folder).outcomes
        found = {outcome.record.location: outcome for outcome in outcomes}
        return {file: _ending(found.get(str(folder / file))) for file in files}


def _outermost(data: Path, file: str) -> str:
    """Return the file on the disk that a file lies in, itself if it is one."""
    path = Path(file)
    return next(str(p) for p in (path, *path.parents) if (data / p).is_file())


def _ending(outcome: FileOutcome | None) -> tuple[str, tuple[str, ...]]:
    if outcome is None:
        return "not reported", ()
    record = outcome.record
    told = [(notice.code, notice.sentence) for notice in outcome.notices]
    if record.code and (record.code, record.sentence) not in told:
        told.insert(0, (record.code, record.sentence))
    return record.status.value, tuple(f"{sentence} ({code})" for code, sentence in told)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--print", action="store_true", help="the rows as they are today, as JSON")
    parser.add_argument("--write", action="store_true", help="keep the result")
    chosen = parser.parse_args()
    machine = Machine()
    rows: list[dict[str, Any]] = [
        json.loads(line) for line in READ.read_text(encoding="utf-8").splitlines()
    ]
    now = today([row["file"] for row in rows])
    if chosen.print:
        for row in rows:
            state, reasons = now[row["file"]]
            shown = row | {"state": state, "reasons": reasons}
            print(json.dumps(shown, ensure_ascii=False))
        return 0
    changed = [row for row in rows if now[row["file"]] != (row["state"], tuple(row["reasons"]))]
    verdicts = Counter(row["verdict"] for row in rows)
    found = [
        Bar("files read", len(rows), least=WANTED),
        Bar("reasons that are true", verdicts["true"], least=WANTED),
        Bar("reasons that read otherwise than when they were read", len(changed), most=0),
    ]
    table = Table(
        "Not true, or otherwise by now",
        ("file", "state", "reasons", "what it is", "verdict"),
        tuple(
            (row["file"], row["state"], " ".join(row["reasons"]), row["what_it_is"], row["verdict"])
            for row in rows
            if row["verdict"] != "true" or row in changed
        ),
    )
    title = "Reasons read beside the files"
    return finish("reasons", title, found, [table], machine.setting(), write=chosen.write)


if __name__ == "__main__":
    sys.exit(main())
