from dataclasses import replace
from pathlib import Path

import pytest
from tests.reading.conftest import xlsx_parts, zipped
from tests.reading.pdf_writer import HEIGHT, WIDTH, Page, write_pdf

from chapterhouse import Library
from chapterhouse.errors import NotFoundError, UsageError
from chapterhouse.types import Scope, Status

pytestmark = pytest.mark.usefixtures("each_store")


def test_a_second_add_reads_what_has_changed(library: Library, folder: Path) -> None:
    before = library.status().sequence
    report = library.documents.add(folder)
    assert report.changed == 0
    assert {outcome.record.code for outcome in report.outcomes} == {"unchanged"}
    assert library.status().sequence == before
    (folder / "weather.txt").write_text("The crossing is suspended above force nine, since May.\n")
    preview = library.documents.add(folder, dry_run=True)
    assert "would-be-read" in {outcome.record.code for outcome in preview.outcomes}
    assert library.documents.add(folder).changed == 1
    assert "force nine" in library.answers.ask("When is the crossing suspended?").text
    assert not any(
        "loudspeaker" in hit.chunk.text for hit in library.search.hits("loudspeaker").hits
    )


def test_a_file_that_is_gone_is_removed_on_demand(library: Library, folder: Path) -> None:
    (folder / "weather.txt").unlink()
    assert library.documents.add(folder).missing == ("documents/weather.txt",)
    assert library.search.hits("loudspeaker").hits
    assert [d.source for d in library.documents.remove(missing=True, dry_run=True).documents] == [
        "documents/weather.txt"
    ]
    assert library.status().documents == 3
    library.documents.remove(missing=True)
    assert library.status().documents == 2
    assert not library.search.hits("loudspeaker").hits


def test_reports_count_the_chunks_that_were_written(library: Library, folder: Path) -> None:
    assert library.documents.add(folder).chunks == 0
    long = "\n\n".join(f"Berth {number} is {number} metres wide." * 20 for number in range(30))
    before = library.status().chunks
    written = library.documents.add_text(long).chunks
    assert written > 1
    assert library.status().chunks == before + written
    assert library.documents.add_text(long).chunks == 0  # the same again


def test_names_lead_to_documents(library: Library) -> None:
    document = library.documents.get("rules.md")
    assert library.documents.get(document.id) == document
    assert library.documents.get(document.id[:-3]) == document
    assert library.documents.get("documents/rules.md") == document
    assert "4 knots" in library.documents.body(document.id).text
    with pytest.raises(NotFoundError, match="no document 'nowhere'"):
        library.documents.body("nowhere")
    with pytest.raises(NotFoundError, match="nowhere"):
        library.documents.get("nowhere.md")
    with pytest.raises(UsageError, match="empty"):
        library.documents.get(" ")


def test_a_page_is_shown_and_a_span_found_on_it(library: Library, folder: Path) -> None:
    first = ["Adults pay nine euros in summer and in", "winter, and dogs"]
    second = Page().lines(72, 72, ["travel free on all of the ships."])
    (folder / "fees.pdf").write_bytes(write_pdf([Page().lines(72, 72, first), second]))
    library.documents.add(folder)
    document = library.documents.get("fees.pdf")
    image = library.documents.page_image(document.id, 2)
    assert image.startswith(b"\x89PNG")
    assert library.documents.page_image(document.id, 2) is image
    text = library.documents.body(document.id).text
    places = library.documents.locate(document.id, text.index("nine"), text.index(" free"))
    assert [(one.page, len(one.rectangles)) for one in places] == [(1, 2), (2, 1)]
    (place,) = library.documents.locate(document.id, text.index("dogs"), text.index("dogs") + 4)
    ((left, top, right, bottom),) = place.rectangles
    assert 72 / WIDTH < left < right < 200 / WIDTH
    assert 72 / HEIGHT < top + 0.01 < 84 / HEIGHT < bottom < 95 / HEIGHT
    with pytest.raises(NotFoundError, match="no page 3"):
        library.documents.page_image(document.id, 3)
    with pytest.raises(UsageError, match="no text"):
        library.documents.locate(document.id, 3, 3)
    other = library.within(Scope.of(["elsewhere"])).documents
    for ask in (lambda: other.page_image(document.id, 2), lambda: other.locate(document.id, 0, 9)):
        with pytest.raises(NotFoundError, match="no document"):
            ask()
    library.documents.remove(document.id)
    with pytest.raises(NotFoundError, match="no document"):
        library.documents.page_image(document.id, 2)


def test_what_has_no_pages_to_draw_says_so(library: Library, folder: Path) -> None:
    rules = library.documents.get("rules.md").id
    assert library.documents.locate(rules, 0, 9) == ()
    with pytest.raises(NotFoundError, match="no page 1"):
        library.documents.page_image(rules, 1)
    (folder / "fees.xlsx").write_bytes(zipped(xlsx_parts()))
    library.documents.add(folder)
    (place,) = library.documents.locate(library.documents.get("fees.xlsx").id, 0, 9)
    assert (place.page, place.rectangles) == (1, ())
    assert "sheet" in place.reason


def test_a_removed_document_is_gone(library: Library, folder: Path) -> None:
    (folder / "rules-old.md").write_text("The old rules.")
    library.documents.add(folder)
    with pytest.raises(UsageError, match="fits 2"):
        library.documents.remove("rules")
    assert library.status().documents == 4
    library.documents.remove("rules.md")
    assert "documents/rules.md" not in {
        hit.document.source for hit in library.search.hits("knots").hits
    }
    with pytest.raises(NotFoundError):
        library.documents.remove("documents/rules.md")


def test_indexes_of_encoders_that_no_question_uses_go_with_a_removal(library: Library) -> None:
    unused = library.folder / "index" / "vectors-0123456789ab"
    unused.mkdir()
    (unused / "keys.1").write_bytes(b"what was removed")
    library.documents.remove("rules.md")
    assert not unused.exists()
    assert all(check.passed for check in library.doctor())


def test_text_that_came_from_no_file_is_in_no_folder(library: Library) -> None:
    (outcome,) = library.documents.add_text("Fog comes at dawn, says the office.").outcomes
    before = library.documents.get(outcome.record.document_id)
    removal = library.documents.remove(before.id)
    assert library.documents.in_place(removal.documents) == []


def test_files_in_quarantine_are_tried_again_when_they_are_reprocessed(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    for name in ("good", "bad"):
        (folder / f"{name}.md").write_text(f"# {name}\n\nA text that is harmless by now.")
    with Library.open(tmp_path / "home") as library:
        library.documents.add(folder)
        store = library._runtime.store
        bad, good = sorted(store.files(), key=lambda one: one.source)
        library.documents.remove("bad.md")
        for record in (replace(bad, document_id=""), good):
            store.record_file(replace(record, status=Status.QUARANTINED, attempts=3))
        assert library.documents.add(folder).count_earlier(Status.QUARANTINED) == 2
        assert library.documents.reprocess("bad.md").outcomes == ()
        assert [one.source for one in library.documents.quarantined()] == ["notes/good.md"]
        (outcome,) = library.documents.reprocess().outcomes
        assert outcome.record.status is Status.READY
        assert library.documents.quarantined() == ()
        library.documents.add(folder)
        assert {one.source for one in library.documents.list()} == {"notes/good.md", "notes/bad.md"}
