"""What was removed stays in no file; what is left is found."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse import Library
from chapterhouse.ingest.remove import Finder, _blocks, end_of, pieces_of, search_files, traces_of
from chapterhouse.types import RemovalState, Scope


@given(
    st.lists(st.binary(min_size=12, max_size=24), min_size=1, max_size=8, unique=True),
    st.binary(max_size=200),
    st.integers(0, 60),
    st.integers(24, 64),
)
def test_probes_are_found_wherever_they_stand(
    tmp_path_factory: pytest.TempPathFactory,
    probes: list[bytes],
    rest: bytes,
    at: int,
    block: int,
) -> None:
    path = tmp_path_factory.mktemp("probes") / "file"
    data = rest[:at] + probes[0] + rest[at:]
    path.write_bytes(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("chapterhouse.ingest.remove._BLOCK", block)
        finder = Finder(probes)
        found = {probe for block in _blocks(path) for probe in finder.find(block)}
    assert found == {probe for probe in probes if probe in data}


def test_probes_stand_in_a_text_and_in_its_json_alike() -> None:
    text = 'She said: "the ferry leaves\nat seven in the morning", and was\u00a0right about it.'
    probes = pieces_of(text)
    assert probes
    assert all(probe in text.encode() and b'"' not in probe for probe in probes)
    assert pieces_of("Yes.") == frozenset()
    assert pieces_of("Der Fährmann heißt überall Jürgen Größenwahn.")


def test_what_is_left_anywhere_is_found_but_not_what_another_document_says(
    library: Library, folder: Path
) -> None:
    (folder / "copy-of-it.md").write_bytes(next(folder.glob("*.md")).read_bytes())
    library.documents.add(folder)
    assert library.documents.remove("copy-of-it.md").state is RemovalState.REMOVED

    store, place = library._runtime.store, library.folder
    (folder / "harbour-dues.md").write_text("# Dues\n\nEvery berth costs eleven crowns.\n")
    library.documents.add(folder)
    document = library.documents.get("harbour-dues.md")
    traces = traces_of([document], store)
    assert search_files(traces, place, store).found == 0  # it is there
    for name, text in (
        ("chat.json", store.chunks_of(document.id, Scope.everything())[0].text),
        ("background/note.txt", f"reading {document.source}"),
        ("jobs.txt", document.id),
        ("list.txt", document.sha256),
        (f"uploads/{document.sha256}", "nothing"),
    ):
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_text(text)
        removal = library.documents.remove(document.id)
        assert removal.state is RemovalState.INCOMPLETE, name
        assert removal.search is not None
        assert removal.search.places == (name,)
        assert removal.search.files == len([one for one in place.rglob("*") if one.is_file()])
        (place / name).unlink()
        library.documents.add(folder)


def test_blanks_and_rules_say_nothing() -> None:
    assert pieces_of(" " * 100 + "|\n" + "| --- " * 20) == frozenset()


def test_a_name_is_known_by_its_end() -> None:
    assert end_of("dossier-about-the-harbour-4ec15632") == {b"bout-the-harbour-4ec15632"[-24:]}
    assert end_of("a.md") == frozenset()
