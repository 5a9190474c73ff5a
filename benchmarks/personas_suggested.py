"""How good the profiles are that ``persona update`` proposes without a model: judged item by item.

Twelve folders; each proposed tag, term, other name and expertise is marked by whether a
colleague would write it (``personas_suggested.jsonl``: "before" is what was proposed when the shelf
was weighed against the rest of the library, "after" what is proposed now). Seven folders were
looked at while the rules were made, five only afterwards. Without an option the judgements are
counted. ``--propose`` makes the profiles again and prints as JSON lines what is not judged yet.
"""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from chapterhouse import Library
from data_folder import data_folder
from measuring import Machine, Row, Table, finish

sys.path.append(str(Path(__file__).parent / "natural"))
import folders

JUDGED = Path(__file__).with_suffix(".jsonl")
FOLDERS = {
    **dict.fromkeys(("site-policies", "manual", "contracts", "guides-fr"), "design"),
    **dict.fromkeys(("varnholm-ferry", "office", "press"), "design"),
    **dict.fromkeys(("terms", "minutes", "web", "magazine", "pypdf-sample-files"), "end"),
}
KINDS = ("tag", "term", "alias", "expertise")


@dataclass(frozen=True, slots=True)
class Judgement:
    """Whether a colleague would write one item of a proposal; None before it was judged."""

    folder: str
    version: str
    kind: str
    text: str
    good: bool | None


def main() -> int:
    """Count the judgements, or propose anew."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--propose", action="store_true", help="print what is not judged yet")
    parser.add_argument("--write", action="store_true", help="write results/")
    options = parser.parse_args()
    machine = Machine()
    judged = [Judgement(**json.loads(line)) for line in JUDGED.read_text("utf-8").splitlines()]
    if options.propose:
        return propose_again(judged)
    tables = (
        Table("Seven folders that were looked at", _COLUMNS, counted(judged, "design")),
        Table("Five folders that were opened at the end", _COLUMNS, counted(judged, "end")),
        Table("Each folder, tags and terms", _COLUMNS, by_folder(judged)),
    )
    return finish(
        "personas_suggested",
        "Would a colleague write this?",
        (),
        tables,
        machine.setting(),
        [_NOTE],
        write=options.write,
    )


_NOTE = (
    "Good / proposed. Who made the rules judged, and knew which profile an item was of; the same "
    "text in one folder was judged once for both."
)
_COLUMNS = ("what", "before", "after", "good before", "good after")


def counted(judged: list[Judgement], part: str) -> tuple[Row, ...]:
    """Return good and proposed items of each kind over the folders of a part."""
    inside = [one for one in judged if FOLDERS[one.folder] == part]
    return tuple(_row(kind, [one for one in inside if one.kind == kind]) for kind in KINDS)


def by_folder(judged: list[Judgement]) -> tuple[Row, ...]:
    """Return good and proposed tags and terms of each folder."""
    listed = [one for one in judged if one.kind in ("tag", "term")]
    return tuple(_row(name, [one for one in listed if one.folder == name]) for name in FOLDERS)


def _row(name: str, judged: list[Judgement]) -> Row:
    cells: list[str] = []
    shares: list[str] = []
    for version in ("before", "after"):
        marks = [one.good for one in judged if one.version == version]
        cells.append(f"{sum(map(bool, marks))} / {len(marks)}")
        shares.append(f"{100 * sum(map(bool, marks)) / len(marks):.0f} %" if marks else "–")
    return (name, *cells, *shares)


def propose_again(judged: list[Judgement]) -> int:
    """Print each item of today's proposals that nobody judged; 1 if there is one."""
    known = {(one.folder, one.kind, one.text) for one in judged if one.version == "after"}
    missing = 0
    for name in FOLDERS:
        for kind, text in proposed(name):
            if (name, kind, text) not in known:
                missing += 1
                line = {"folder": name, "version": "after", "kind": kind, "text": text}
                print(json.dumps({**line, "good": None}, ensure_ascii=False))
    return 1 if missing else 0


def proposed(name: str) -> Iterator[tuple[str, str]]:
    """Yield the kind and text of each item that is proposed for a folder."""
    os.environ["CHAPTERHOUSE_BACKGROUND"] = "0"
    with tempfile.TemporaryDirectory() as folder, Library.open(Path(folder) / "home") as library:
        house = library.personas
        house.create(name, folders=[str(_files(name, Path(folder)))])
        after = house.update(name, everything=False).proposal.after
    yield from (("tag", text) for text in after.tags)
    yield from (("term", text) for text in after.profile.key_terms)
    yield from (("alias", text) for text in after.profile.aliases)
    yield "expertise", after.profile.expertise


def _files(name: str, target: Path) -> Path:
    if name == "varnholm-ferry":
        return Path(__file__).parents[1] / "examples" / name
    if name in folders.PARTS:
        return folders.lay_out(name, data_folder(), target)
    return data_folder() / "documents" / name


if __name__ == "__main__":
    sys.exit(main())
