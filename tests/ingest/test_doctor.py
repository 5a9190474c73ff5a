from typing import Any

from chapterhouse.ingest.doctor import checks_of, examine
from chapterhouse.types import Finding, Remedy, Verification


def test_a_sound_library_passes_every_check(home: Any) -> None:
    home.write("small.md", "# Title\n\nSmall text, with a few words in English.\n")
    home.add()
    checks = examine(home.store, home.blobs, {})
    assert len(checks) > 10
    assert all(check.passed and check.sentence for check in checks)


def test_a_fault_names_its_part_and_what_to_do(home: Any) -> None:
    home.write("small.md", "# Title\n\nSmall text, with a few words in English.\n")
    home.add()
    with home.store._connections.write() as connection:
        connection.execute("UPDATE body SET text = text || '.'")
    (failed,) = (check for check in examine(home.store, home.blobs, {}) if not check.passed)
    assert (failed.name, failed.sentence[:9]) == ("text", "2 faults:")
    assert "chapterhouse repair" in failed.hint


def test_what_no_program_can_do_has_its_own_hint() -> None:
    finding = Finding("blobs", "a strange file", Remedy.NONE, hint="Move it away.")
    checks = checks_of(Verification((finding,)), ["lexical"])
    assert [check.hint for check in checks if not check.passed] == ["Move it away."]
    assert checks[-1].name == "lexical index"


def test_of_a_damaged_database_nothing_else_is_said() -> None:
    finding = Finding("database", "damage", Remedy.REBUILD)
    (check,) = checks_of(Verification((finding,)), ["lexical"])
    assert not check.passed
