import os
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rooms import BERTHS, TIDES, Room

from chapterhouse import Library
from chapterhouse.agents.council import council_from
from chapterhouse.agents.listing import FileListing, IndexState, choose, council_listing
from chapterhouse.agents.personas import Personas
from chapterhouse.errors import NotFoundError, UsageError


def listed(registry: Personas, name: str = "maria") -> dict[str, IndexState]:
    return {entry.source: entry.status for entry in registry.documents(name)}


def test_why_something_is_not_indexed(registry: Personas, maria: Path, library: Library) -> None:
    (maria / "RAW-DOCS" / "torn.pdf").write_bytes(b"%PDF-1.7 torn")
    (maria / "RAW-DOCS" / "empty.txt").write_text("   ")
    (maria / "RAW-DOCS" / "pages.links").write_text("https://example.org/")
    registry.create("tom")
    (maria / "RAG" / "shared.md").write_text(
        "---\nid: shared\npersonas: [maria, tom]\n---\n\n# Shared\n\nThe gate closes at nine.\n"
    )
    registry.refresh("maria")
    (maria / "RAG" / "tides.md").unlink()
    (maria / "RAW-DOCS" / "later.md").write_text("# Later\n\nNot yet.\n")
    registry.refresh("tom")
    entries = {entry.source: entry for entry in registry.documents("maria")}
    assert {source: entry.status.value for source, entry in entries.items()} == {
        "RAG/shared.md": "indexed",
        "RAW-DOCS/berths.txt": "indexed",
        "RAW-DOCS/empty.txt": "rejected",
        "RAW-DOCS/later.md": "new",
        "RAW-DOCS/tides.md": "removed",
        "RAW-DOCS/torn.pdf": "rejected",
    }
    assert all(entry.reason and entry.code for entry in entries.values() if not entry.chunks)
    assert entries["RAG/shared.md"].shared_with == ("tom",)
    (told,) = registry.documents("tom")
    with pytest.raises(UsageError, match="shared with them"):
        registry.remove("tom", told.source)
    assert (told.document_id, told.shared_with) == (
        entries["RAG/shared.md"].document_id,
        ("maria",),
    )


def test_what_was_removed_stays_out_until_it_is_restored(registry: Personas, maria: Path) -> None:
    registry.refresh("maria")
    removed = registry.remove("maria", "berths.txt")
    assert removed.source == "RAW-DOCS/berths.txt"
    assert registry.load("maria").config.exclude == ("RAG/berths.md",)
    for _ in range(2):
        assert listed(registry) == {
            "RAW-DOCS/berths.txt": "removed",
            "RAW-DOCS/tides.md": "indexed",
        }
        registry.refresh("maria")
    (maria / "RAW-DOCS" / "berths.txt").write_text(BERTHS + "\nNew words.\n")
    registry.refresh("maria")
    assert listed(registry)["RAW-DOCS/berths.txt"] == "removed"
    assert registry.census("maria").documents == 1
    registry.update("maria")
    assert listed(registry)["RAW-DOCS/berths.txt"] == "removed"
    registry.restore("maria", "berths.txt")
    assert set(listed(registry).values()) == {IndexState.INDEXED}
    assert registry.load("maria").config.exclude == ()
    with pytest.raises(UsageError, match="not removed by hand"):
        registry.restore("maria", "berths.txt")
    for name, error in (("nothing", NotFoundError), ("", UsageError)):
        with pytest.raises(error):
            registry.remove("maria", name)


def test_a_file_of_any_name_can_be_removed(registry: Personas, maria: Path) -> None:
    name = os.fsdecode(b"a\x1b[2J\xffb.md")
    (maria / "RAG" / name).write_text("---\nid: a\n---\n\n# A\n\nWords.\n")
    registry.refresh("maria")
    shown = "RAG/a\\u001b[2J\\xffb.md"
    assert listed(registry)[shown] == "indexed"
    registry.remove("maria", shown)
    assert listed(registry)[shown] == "removed"
    registry.restore("maria", shown)
    assert listed(registry)[shown] == "indexed"


def test_a_person_may_exclude_by_the_name_in_raw_docs(registry: Personas, maria: Path) -> None:
    registry.change("maria", {"exclude": "RAW-DOCS/berths.txt"})
    registry.refresh("maria")
    registry.refresh("maria")
    assert listed(registry) == {"RAW-DOCS/berths.txt": "removed", "RAW-DOCS/tides.md": "indexed"}
    assert registry.census("maria").documents == 1
    registry.restore("maria", "berths.txt")
    assert registry.census("maria").documents == 2


def test_what_others_read_is_new_until_read(registry: Personas, room: Room, tmp_path: Path) -> None:
    papers = tmp_path / "papers"
    papers.mkdir()
    (papers / "fog.md").write_text("# Fog\n\nIn fog the horn sounds every two minutes.\n")
    (papers / "run.exe").write_bytes(b"MZ\x90\x00" + bytes(64))
    room.library.documents.add(papers)
    registry.create("maria", folders=[str(papers)])
    entries = {entry.source: entry for entry in registry.documents("maria")}
    fog, program = entries["papers/fog.md"], entries["papers/run.exe"]
    assert (fog.status, fog.code, fog.document_id) == ("new", "not-read-yet", "")
    assert (program.status, program.code) == ("ignored", "unsupported-format")
    registry.refresh("maria")
    assert listed(registry) == {"papers/fog.md": "indexed", "papers/run.exe": "ignored"}


def test_a_councils_files_come_with_what_became_of_them(room: Room, tmp_path: Path) -> None:
    library = room.library
    folder = library.councils.create(council_from("decision", "quay"))
    papers = tmp_path / "papers"
    papers.mkdir()
    (folder.docs / "tides.md").write_text(TIDES)
    (papers / "torn.pdf").write_bytes(b"%PDF-1.7 torn")
    (papers / "link.md").symlink_to(papers / "torn.pdf")
    (papers / "fog.md").write_text("# Fog\n\nIn fog the horn sounds every two minutes.\n")
    library.documents.add(papers / "fog.md")  # on another shelf
    look = partial(
        council_listing, {folder.council.shelf: (papers, tmp_path / "gone")}, folder.docs,
        library._runtime.store,
    )  # fmt: skip
    before = {entry.source.rpartition("/")[2]: (entry.status, entry.code) for entry in look()}
    assert before == {
        "fog.md": ("new", "not-read-yet"),
        "link.md": ("rejected", "symbolic-link"),
        "tides.md": ("new", "not-read-yet"),
        "torn.pdf": ("new", "not-read-yet"),
    }
    library.councils.add_folder("quay", str(papers))
    library.councils.refresh("quay")
    after = {entry.source.rpartition("/")[2]: entry for entry in look()}
    assert after["tides.md"].status is IndexState.INDEXED
    assert after["tides.md"].chunks == 1
    assert after["torn.pdf"].status is IndexState.REJECTED
    assert after["torn.pdf"].reason
    assert after["tides.md"].shared_with == ()  # the shelf of the council itself is no other's


names = st.text("abc", min_size=1, max_size=4)
files = st.dictionaries(st.tuples(names, names), names, min_size=1, max_size=5).map(
    lambda drawn: tuple(
        FileListing(f"{top}/{name}.md", f"/home/{top}/{name}.md", f"{number}-{stem}")
        for number, ((top, name), stem) in enumerate(drawn.items())
    )
)


@given(files, st.data())
def test_each_file_is_found_by_name(listed: tuple[FileListing, ...], data: st.DataObject) -> None:
    wanted = data.draw(st.sampled_from(listed))
    for name in (wanted.source, wanted.path, wanted.document_id, wanted.document_id[:2]):
        assert choose(listed, name, "maria") == wanted
    name = wanted.source.rpartition("/")[2]
    others = [one for one in listed if one.source.endswith(f"/{name}") and one != wanted]
    if others:
        with pytest.raises(UsageError, match=f"fits {len(others) + 1} files"):
            choose(listed, name, "maria")
    else:
        assert choose(listed, name.upper(), "maria") == wanted
    with pytest.raises(NotFoundError, match="No file of 'maria'"):
        choose(listed, f"{wanted.source}x", "maria")
