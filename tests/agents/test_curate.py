import json
import os
from concurrent.futures import Future
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chapterhouse.agents import curated as keeping
from chapterhouse.agents.curate import curate, curation_is_current
from chapterhouse.agents.curated import (
    STATE_FILE,
    CurationRecord,
    CurationReport,
    Outcome,
    base_folder,
    is_document_id,
    kebab,
    load_state,
    read_own,
    save_state,
)
from chapterhouse.connectors.fetch import FetchResult
from chapterhouse.connectors.fetched import sync_pages
from chapterhouse.connectors.links import Link
from chapterhouse.errors import ChapterhouseError, RefusedError, RejectedError, UsageError
from chapterhouse.reading.dispatch import read as read_bytes
from chapterhouse.reading.limits import Limits
from chapterhouse.text.canonical import front_matter
from chapterhouse.types import Extraction

OLD = 1_600_000_000
TODAY = "2026-01-31"


def read_now(data: bytes, name: str) -> Future[Extraction]:
    future: Future[Extraction] = Future()
    try:
        future.set_result(read_bytes(data, name, Limits()))
    except RejectedError as error:
        future.set_exception(error)
    return future


@dataclass
class Desk:
    """A persona's two folders."""

    raw: Path
    rag: Path
    slug: str = "mia"
    names_read: list[str] = field(default_factory=list)

    def drop(self, name: str, text: str | bytes, *, stamp: int = OLD) -> Path:
        path = self.raw / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        os.utime(path, (stamp, stamp))
        return path

    def run(self, **options: object) -> CurationReport:
        self.names_read.clear()

        def read(data: bytes, name: str) -> Future[Extraction]:
            self.names_read.append(name)
            return read_now(data, name)

        arguments: dict[str, object] = {"read": read, "today": TODAY, **options}
        return curate(self, **arguments)  # type: ignore[arg-type]  # as given

    def outcome(self, **options: object) -> tuple[Outcome, str]:
        (only,) = self.run(**options).outcomes
        return only.status, only.code

    def text(self, name: str) -> str:
        return (self.rag / name).read_text(encoding="utf-8")

    def edit(self, name: str, old: str, new: str) -> None:
        text = self.text(name)
        assert old in text
        (self.rag / name).write_text(text.replace(old, new), encoding="utf-8")

    def files(self) -> dict[str, str]:
        return {
            str(path.relative_to(self.rag)): path.read_text(encoding="utf-8")
            for path in sorted(self.rag.rglob("*"))
            if path.is_file()
        }


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    raw = tmp_path / "RAW-DOCS"
    raw.mkdir()
    return Desk(raw, tmp_path / "RAG")


REPORT = "# Tide Report\n\nThe tide at Osk rises four metres every spring, says the harbour log.\n"


def test_a_document_gets_front_matter_names_and_clean_markdown(desk: Desk) -> None:
    desk.drop(
        "2025-10-14 Tide_Report.md",
        "# Automatic Identification System (AIS)\n\n\n\nThe receiver hears each vessel within "
        "twenty miles of the harbour. The receiver is old.\n\n### Range\n\nThe Receiver Mast "
        "is high. The Receiver Mast is new.\n",
    )
    report = desk.run()
    assert [(o.source, o.target, o.status) for o in report.outcomes] == [
        ("2025-10-14 Tide_Report.md", "2025-10-14-tide-report.md", Outcome.WRITTEN)
    ]
    text = desk.text("2025-10-14-tide-report.md")
    fields = front_matter(text)
    assert fields["id"] == "2025-10-14-tide-report"
    assert fields["title"] == "Automatic Identification System (AIS)"
    assert fields["date"] == "2025-10-14"
    assert fields["personas"] == "mia"
    assert fields["source_file"] == "2025-10-14 Tide_Report.md"
    assert not {"summary", "tags"} & fields.keys()  # nobody has written any
    assert fields["extracted_via"].startswith("Python")
    assert "\n**Key Terms**: " in text
    assert "\n**Also Known As**: " in text
    assert "AIS" in text.partition("**Also Known As**: ")[2].partition("\n")[0]
    assert "\n\n\n" not in text
    assert "\n## Range\n" in text


def test_own_front_matter_wins_and_unknown_fields_stay(desk: Desk) -> None:
    own = (
        "---\n# by hand\ntitle: Mine\npersonas: [mia, ben]\nauthor:\n  name: Ada\n"
        "source_file: forged\nid: ../../x\n---\n# Other\n\nText of the note.\n"
    )
    desk.drop("note.md", own)
    desk.run()
    text = desk.text("note.md")
    fields = front_matter(text)
    assert fields["title"] == "Mine"
    assert fields["personas"] == "mia, ben"
    assert (fields["id"], fields["source_file"]) == ("note", "note.md")
    assert "author:\n  name: Ada\n" in text
    assert "# by hand" in text
    assert "\n# Other\n" in text


def test_ids_are_stable_and_collisions_are_numbered(desk: Desk) -> None:
    desk.drop("b/Report.txt", "second report of the harbour\n")
    desk.rag.mkdir()
    (desk.rag / "report.md").write_text("by hand\n")
    desk.run()
    desk.drop("a/report.md", REPORT)
    report = desk.run()
    assert [(o.source, o.target) for o in report.outcomes] == [
        ("a/report.md", "report-3.md"),
        ("b/Report.txt", "report-2.md"),
    ]
    assert desk.text("report.md") == "by hand\n"
    assert [outcome.target for outcome in desk.run(everything=True).outcomes] == [
        "report-3.md",
        "report-2.md",
    ]


def test_a_renamed_source_keeps_its_document_and_its_edits(desk: Desk) -> None:
    path = desk.drop("tides.md", REPORT)
    desk.run()
    desk.edit("tides.md", "four metres", "five metres")
    path.rename(desk.raw / "harbour-tides.md")
    (outcome,) = desk.run().outcomes
    assert (outcome.source, outcome.target) == ("harbour-tides.md", "tides.md")
    assert "five metres" in desk.text("tides.md")
    new = desk.text(".curated/tides.new.md")
    assert front_matter(new)["source_file"] == "harbour-tides.md"


def test_nothing_is_read_again_until_it_changes(desk: Desk) -> None:
    path = desk.drop("tides.md", REPORT)
    assert desk.outcome() == (Outcome.WRITTEN, "new")
    assert desk.outcome() == (Outcome.UNCHANGED, "")
    assert desk.names_read == []
    os.utime(path, (OLD + 5, OLD + 5))
    assert desk.outcome() == (Outcome.UNCHANGED, "")
    assert desk.names_read == []
    desk.outcome(everything=True)
    assert desk.names_read == ["tides.md"]


def test_a_conflict_leaves_the_hand_edit_and_the_new_version_beside_it(desk: Desk) -> None:
    desk.drop("tides.md", REPORT)
    desk.run()
    desk.edit("tides.md", "The tide at Osk rises four metres", "The tide rises five metres")
    edited = desk.text("tides.md")
    desk.drop("tides.md", REPORT.replace("four", "six"), stamp=OLD + 9)
    (outcome,) = desk.run().outcomes
    assert (outcome.status, outcome.code) == (Outcome.CONFLICT, "edited-by-hand")
    assert ".curated/tides.new.md" in outcome.sentence
    assert desk.text("tides.md") == edited
    assert "six metres" in desk.text(".curated/tides.new.md")
    assert desk.outcome() == (Outcome.UNCHANGED, "")
    assert desk.outcome(everything=True) == (Outcome.RETAINED, "edited-by-hand")
    (desk.rag / ".curated/tides.new.md").unlink()
    assert desk.outcome() == (Outcome.UNCHANGED, "")


def test_what_was_deleted_by_hand_stays_away_until_its_source_changes(desk: Desk) -> None:
    desk.drop("tides.md", REPORT)
    desk.run()
    (desk.rag / "tides.md").unlink()
    assert desk.outcome() == (Outcome.RETAINED, "deleted-by-hand")
    assert curation_is_current(desk.raw, desk.rag)
    desk.drop("tides.md", REPORT.replace("four", "six"), stamp=OLD + 9)
    assert desk.outcome() == (Outcome.WRITTEN, "made-again")
    (desk.rag / "tides.md").unlink()
    assert desk.outcome(everything=True) == (Outcome.WRITTEN, "made-again")


def test_a_document_whose_source_is_gone_goes_unless_it_was_edited(desk: Desk) -> None:
    desk.drop("a.md", REPORT)
    desk.drop("b.md", REPORT)
    desk.run()
    desk.edit("b.md", "four metres", "five metres")
    (desk.raw / "a.md").unlink()
    (desk.raw / "b.md").unlink()
    assert not curation_is_current(desk.raw, desk.rag)
    found = {o.source: (o.status, o.code) for o in desk.run().outcomes}
    assert found == {
        "a.md": (Outcome.REMOVED, "source-gone"),
        "b.md": (Outcome.ORPHANED, "source-gone"),
    }
    assert sorted(desk.files()) == [".curated/b.md", ".curated/curated.json", "b.md"]
    assert curation_is_current(desk.raw, desk.rag)
    assert desk.outcome() == (Outcome.ORPHANED, "source-gone")
    desk.drop("b.md", REPORT)
    assert desk.outcome()[0] is Outcome.UNCHANGED
    (desk.rag / "b.md").unlink()
    (desk.raw / "b.md").unlink()
    assert desk.outcome() == (Outcome.REMOVED, "source-gone")
    assert sorted(desk.files()) == [".curated/curated.json"]


def test_failures_are_named_and_remembered(desk: Desk) -> None:
    desk.drop("noise.bin", bytes(range(256)))
    desk.drop("empty.md", "\n")
    (desk.raw / "link.md").symlink_to(desk.raw / "empty.md")
    codes = {o.source: o.code for o in desk.run().outcomes}
    assert codes == {
        "empty.md": "no-text",
        "link.md": "symbolic-link",
        "noise.bin": "unsupported-format",
    }
    assert curation_is_current(desk.raw, desk.rag)
    assert {o.source: o.code for o in desk.run().outcomes} == codes
    assert desk.names_read == []
    assert sorted(desk.files()) == [".curated/curated.json"]


def test_a_source_that_can_no_longer_be_read_keeps_its_document(desk: Desk) -> None:
    desk.drop("tides.md", REPORT)
    desk.run()
    desk.drop("tides.md", b"\x00\x01\x02" * 50, stamp=OLD + 9)
    (outcome,) = desk.run().outcomes
    assert outcome.status is Outcome.FAILED
    assert outcome.target == "tides.md"
    assert "stays" in outcome.sentence
    assert "four metres" in desk.text("tides.md")


def test_a_bug_in_a_reader_costs_one_file(desk: Desk) -> None:
    desk.drop("a.md", REPORT)
    desk.drop("b.md", REPORT)

    def read(data: bytes, name: str) -> Future[Extraction]:
        future = read_now(data, name)
        if name == "a.md":
            future = Future()
            future.set_exception(ZeroDivisionError("bug"))
        return future

    assert [o.code for o in desk.run(read=read).outcomes] == ["internal-error", "new"]


def test_a_lost_base_or_a_target_that_is_no_text_costs_no_edit(desk: Desk) -> None:
    desk.drop("tides.md", REPORT)
    desk.run()
    desk.edit("tides.md", "four metres", "five metres")
    (desk.rag / ".curated/tides.md").unlink()
    assert desk.outcome(everything=True) == (Outcome.CONFLICT, "edited-by-hand")
    assert "five metres" in desk.text("tides.md")
    (desk.rag / "tides.md").write_bytes(b"\xff\xfe\x00")
    assert desk.outcome(everything=True) == (Outcome.FAILED, "target-unreadable")
    assert (desk.rag / "tides.md").read_bytes() == b"\xff\xfe\x00"


def test_links_are_never_written_through(desk: Desk, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    desk.drop("tides.md", REPORT)
    desk.rag.mkdir()
    (desk.rag / ".curated").symlink_to(outside)
    with pytest.raises(RefusedError, match="link"):
        desk.run()
    assert list(outside.iterdir()) == []


def test_a_damaged_memory_is_said(desk: Desk) -> None:
    desk.drop("tides.md", REPORT)
    desk.run()
    state = desk.rag / ".curated/curated.json"
    entry = json.loads(state.read_text())
    entry["sources"]["tides.md"]["id"] = "../../escape"
    state.write_text(json.dumps(entry))
    assert desk.outcome()[0] is Outcome.UNCHANGED
    assert sorted(desk.files()) == [".curated/curated.json", ".curated/tides.md", "tides.md"]
    state.write_text("{")
    with pytest.raises(ChapterhouseError, match="damaged"):
        desk.run()
    assert not curation_is_current(desk.raw, desk.rag)


def test_a_dry_run_writes_nothing_and_without_raw_docs_nothing_is_lost(desk: Desk) -> None:
    desk.drop("tides.md", REPORT)
    dry = desk.run(dry_run=True)
    assert not desk.rag.exists()
    assert dry == desk.run()
    desk.raw.rename(desk.raw.with_name("away"))
    assert desk.run() == CurationReport()
    assert curation_is_current(desk.raw, desk.rag)
    assert "tides.md" in desk.files()


def failing_at(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the process die before the given write: nothing after it is written either."""
    writes = count(1)
    write = keeping.write_whole

    def dying(path: Path, text: str) -> None:
        if next(writes) >= number:
            raise SystemExit(1)
        write(path, text)

    monkeypatch.setattr(keeping, "write_whole", dying)


@pytest.mark.parametrize("number", range(1, 10))
def test_interrupted_the_next_run_ends_the_same(desk: Desk, tmp_path: Path, number: int) -> None:
    other = Desk(tmp_path / "other-raw", tmp_path / "other-rag")
    for place in (desk, other):
        place.drop("merge.md", REPORT + "\n## More\n\nOne.\n")
        place.drop("conflict.md", REPORT)
        place.drop("plain.md", REPORT)
        place.run()
        place.edit("merge.md", "rises four", "climbs four")
        place.edit("conflict.md", "rises four", "climbs five")
        place.drop("merge.md", REPORT + "\n## More\n\nTwo.\n", stamp=OLD + 9)
        place.drop("conflict.md", REPORT.replace("four", "six"), stamp=OLD + 9)
        place.drop("plain.md", REPORT.replace("four", "six"), stamp=OLD + 9)
        place.drop("new.md", REPORT)
    with pytest.MonkeyPatch.context() as patch:
        failing_at(number, patch)
        with pytest.raises(SystemExit):
            desk.run()
    assert all(text.endswith("\n") for text in desk.files().values())
    desk.run()
    other.run()
    assert desk.files() == other.files()
    assert "climbs five" in desk.text("conflict.md")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["source", "edit", "delete", "gone", "all"]),
            st.sampled_from("ab"),
            st.integers(0, 4),
        ),
        max_size=8,
    )
)
def test_no_edit_is_ever_lost(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str, int]]
) -> None:
    folder = tmp_path_factory.mktemp("edits")
    desk = Desk(folder / "raw", folder / "rag")
    lines = [f"Line {number} of the harbour log.\n\n" for number in range(5)]
    for name in "ab":
        desk.drop(f"{name}.md", "# Log\n\n" + "".join(lines))
    desk.run()
    marks: dict[str, set[str]] = {"a": set(), "b": set()}
    for stamp, (what, name, number) in enumerate(steps, start=OLD + 1):
        path = desk.rag / f"{name}.md"
        if what == "source":
            changed = list(lines)
            changed[number] = f"Line {number}, version {stamp}.\n\n"
            desk.drop(f"{name}.md", "# Log\n\n" + "".join(changed), stamp=stamp)
        elif what == "edit" and path.exists():
            mark = f"MARK-{stamp}"
            marks[name].add(mark)
            text = path.read_text().splitlines(keepends=True)
            text[-1 - number] = f"{mark} {text[-1 - number]}"
            path.write_text("".join(text))
        elif what == "delete":
            path.unlink(missing_ok=True)
            marks[name].clear()
        elif what == "gone":
            (desk.raw / f"{name}.md").unlink(missing_ok=True)
        desk.run(everything=what == "all")
        for each in "ab":
            kept = (desk.rag / f"{each}.md").read_text() if marks[each] else ""
            assert all(mark in kept for mark in marks[each])


def fetch_page(desk: Desk, url: str, body: bytes, name: str) -> None:
    """Put a page where fetching puts it."""

    def fetch(url: str, *, etag: str, last_modified: str) -> FetchResult:
        kind = "text/html" if name.endswith("html") else "text/markdown"
        return FetchResult(url, url, content=body, content_type=kind, name=name)

    sync_pages([Link(url, 1)], desk.raw / ".fetched", fetch, "2026-01-30")


def test_a_page_of_the_web_cannot_say_whose_it_is(desk: Desk) -> None:
    own = b"personas: [ben]\nid: x\nsource_url: https://bank.example\ntopic: tides\n"
    body = b"---\n" + own + b"---\n# T\n\nx\n"
    desk.drop("pages.links", "https://example.org/t\n")
    fetch_page(desk, "https://example.org/t", body, "t.md")
    (outcome,) = desk.run().outcomes
    fields = front_matter(desk.text(outcome.target))
    assert (fields["personas"], fields["source_url"]) == ("mia", "https://example.org/t")
    assert fields["id"] == outcome.target.removesuffix(".md")
    assert (fields["topic"], fields["type"]) == ("tides", "web")
    assert desk.run().outcomes[0].status is Outcome.UNCHANGED


def test_a_link_in_place_of_the_fetched_pages_is_not_followed(desk: Desk, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    other = Desk(elsewhere, tmp_path / "x")
    elsewhere.mkdir()
    fetch_page(other, "https://example.org/t", b"# T\n\nx\n", "t.md")
    (desk.raw / ".fetched").symlink_to(elsewhere / ".fetched")
    assert desk.run() == CurationReport()


def test_a_curated_document_has_the_time_of_its_original(desk: Desk) -> None:
    for text, stamp in (("closes at nine", OLD), ("closes at ten", OLD + 5)):
        desk.drop("notes.txt", f"The harbour gate {text} in the evening.", stamp=stamp)
        desk.run()
        assert (desk.rag / "notes.md").stat().st_mtime_ns // 10**9 == stamp


@given(st.text(max_size=120))
def test_any_name_becomes_an_id_that_is_only_a_file(name: str) -> None:
    identifier = kebab(name)
    assert is_document_id(identifier)
    assert Path(identifier).name == identifier
    assert len(identifier.encode()) < 230
    assert kebab(identifier) == identifier


def test_an_id_is_of_whole_words_and_no_other_file() -> None:
    for name, identifier in {
        "Fees_2025 (final)": "fees-2025-final",
        "Öffnungszeiten": "offnungszeiten",
        "a/../b": "a-b",
        "--- 7 ---": "7",
        f"{'word ' * 30}": "-".join(["word"] * 16),
    }.items():
        assert kebab(name) == identifier
    for name in ("", "-", "a--b", "A", "a b", "../a", "a.md", "a" * 201):
        assert not is_document_id(name), name


def test_what_is_remembered_comes_back_and_is_written_alike(tmp_path: Path) -> None:
    state = {
        "ö.pdf": CurationRecord("o", "a" * 64, 7, 1, "1", made=True),
        "a.md": CurationRecord("", code="no-text", sentence="No text."),
    }
    save_state(tmp_path, state)
    written = (base_folder(tmp_path) / STATE_FILE).read_bytes()
    assert load_state(tmp_path) == state
    save_state(tmp_path, dict(reversed(state.items())))
    assert (base_folder(tmp_path) / STATE_FILE).read_bytes() == written
    assert (state["ö.pdf"].target, state["a.md"].target) == ("o.md", "")


@pytest.mark.parametrize(
    "entry",
    [[], {"id": 7}, {"id": "../up"}, {"id": "a", "made": 1}, {"id": "a", "size": "7"}, {"id": "A"}],
)
def test_an_entry_that_is_none_costs_no_other(tmp_path: Path, entry: object) -> None:
    save_state(tmp_path, {"a.md": CurationRecord("a"), "b.md": CurationRecord("b")})
    path = base_folder(tmp_path) / STATE_FILE
    stated = json.loads(path.read_bytes())
    stated["sources"]["a.md"] = entry
    path.write_text(json.dumps(stated))
    assert load_state(tmp_path) == {"b.md": CurationRecord("b")}


def test_a_document_is_read_whatever_an_editor_did_to_it(tmp_path: Path) -> None:
    document = tmp_path / "a.md"
    assert read_own(document) is None
    document.write_bytes(b"\xef\xbb\xbf# A\r\n\r\nText.\n")
    assert read_own(document) == "# A\n\nText.\n"
    document.write_bytes(b"caf\xe9")
    with pytest.raises(UsageError, match="UTF-8"):
        read_own(document)
    document.unlink()
    document.symlink_to(tmp_path / "b.md")
    with pytest.raises(UsageError, match="cannot be read"):
        read_own(document)
