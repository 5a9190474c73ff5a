"""An answer says which of the files that it cites were written anew since they were read."""

from pathlib import Path

from chapterhouse import Library

ASKED = "How long are backups kept?"


def test_a_file_that_was_written_over_in_place_is_named_until_it_is_read(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    (folder / "deep").mkdir(parents=True)
    file = folder / "deep" / "backup.md"
    file.write_text("# Backups\n\nBackups are kept for 90 days.\n")
    with Library.open(tmp_path / "home") as library:
        library.documents.add(str(folder))
        library.personas.create("ines", folders=[str(folder)])
        library.personas.refresh("ines")
        assert not library.answers.ask(ASKED).warnings
        file.write_text("# Backups\n\nBackups are kept for 99 days.\n")
        for persona in ("", "ines"):
            told = library.answers.ask(ASKED, persona=persona)
            assert "90 days" in told.text
            assert any("backup.md has changed since" in one for one in told.warnings), persona
        library.sources.sync()
        told = library.answers.ask(ASKED)
        assert ("99 days" in told.text, told.warnings) == (True, ())
        file.unlink()  # which a sync tells, as its disk may be away
        assert not library.answers.ask(ASKED).warnings
