from collections.abc import Iterator
from pathlib import Path

import pytest

from chapterhouse import Library
from chapterhouse.answering.bundle import (
    ANSWER,
    bundle_json,
    file_text,
    json_fields,
    read_bundle,
    read_held,
)
from chapterhouse.errors import UsageError
from chapterhouse.presenting.answers import answer_markdown
from chapterhouse.types import Trust

FERRY = "# Ferry\n\nThe ferry to Osk leaves the north pier at nine.\n"
OWN, EXTERNAL, WEB = Trust.OWN, Trust.EXTERNAL, Trust.WEB


@pytest.fixture
def trusted(tmp_path: Path) -> Iterator[Library]:
    """Give a library with a source of its own, two of others, and a note that is in none."""
    with Library.open() as library:
        for name, level in (("ours", OWN), ("theirs", EXTERNAL), ("pages", WEB)):
            (tmp_path / name).mkdir()
            for number in range(3):
                text = f"{FERRY}\nNotice {number} of {name} about the ferry.\n"
                (tmp_path / name / f"{name}-{number}.md").write_text(text)
            library.sources.add(str(tmp_path / name), shelf=name, trust=level)
        library.sources.sync()
        library.documents.add_bytes(b"# Note\n\nThe ferry is painted white.\n", "note.md")
        yield library


def levels_of(library: Library, *shelves: str) -> set[Trust]:
    hits = library.search.hits("ferry", shelves=shelves or None, limit=100).hits
    return {hit.document.trust for hit in hits}


def test_a_change_holds_at_once(trusted: Library) -> None:
    assert levels_of(trusted, "theirs") == {EXTERNAL}
    sequence = trusted.status().sequence
    trusted.sources.set_trust("theirs", OWN)
    assert trusted.status().sequence == sequence
    assert levels_of(trusted, "theirs") == {OWN}
    assert trusted.sources.sync("theirs")[0].changed == 0
    assert trusted.sources.get("theirs").trust is OWN


def test_an_answer_shows_whom_it_rests_on(trusted: Library) -> None:
    asked = "When does the ferry to Osk leave?"
    own = trusted.answers.ask(asked, shelves=["ours"])
    assert {one.trust for one in own.citations} == {OWN}
    assert "web" not in answer_markdown(own)
    web = trusted.answers.ask(asked, shelves=["pages"])
    assert {one.trust for one in web.citations} == {WEB}
    shown = answer_markdown(web)
    assert "(web)" in shown
    assert " · web" in shown
    assert read_held(file_text(json_fields(web)), ANSWER) == web


def test_bundles_state_trust_only_where_it_is_not_the_own(trusted: Library) -> None:
    for shelf, stated in (("ours", False), ("pages", True)):
        answer = trusted.answers.ask("When does the ferry to Osk leave?", shelves=[shelf])
        written = bundle_json(trusted.answers.bundle(answer))
        assert ('"trust": "web"' in written) is stated
        assert '"trust": "own"' not in written
        assert read_bundle(written, ANSWER).held == answer


def test_the_folders_of_a_persona_have_no_trust_of_their_own(trusted: Library) -> None:
    trusted.personas.create("maria")
    with pytest.raises(UsageError, match="no trust of their own"):
        trusted.sources.set_trust("persona/maria", WEB)


def test_lists_of_pages_are_web_and_their_documents_too(tmp_path: Path) -> None:
    listed = tmp_path / "reading.links"
    listed.write_text("https://example.org/a\n")
    with Library.open() as library:
        source = library.sources.add(str(listed))
        assert source.trust is WEB
        pages = library.folder / "pages" / source.name
        pages.mkdir(parents=True)
        (pages / "a.md").write_text(FERRY)
        library._runtime.store.label_root(str(pages), source.name)
        library.documents.add(pages)  # as a sync does, but that it follows the folder, too
        library.sources.remove(str(pages))
        assert levels_of(library) == {WEB}
        assert library.sources.add(str(listed), trust=OWN).trust is OWN
        assert library.sources.add(str(listed)).trust is OWN
        assert levels_of(library) == {OWN}


def test_a_folder_in_another_source_has_its_own_trust(tmp_path: Path) -> None:
    inside = tmp_path / "all" / "mail"
    inside.mkdir(parents=True)
    (tmp_path / "all" / "a.md").write_text(FERRY)
    (inside / "b.md").write_text(FERRY.replace("nine", "ten"))
    with Library.open() as library:
        library.sources.add(str(tmp_path / "all"))
        library.sources.sync()
        library.sources.add(str(inside), trust=EXTERNAL)
        levels = {one.source: one.trust for one in library.documents.list()}
    assert levels == {"all/a.md": OWN, "all/mail/b.md": EXTERNAL}
