"""What others can look into, and closing it."""

from pathlib import Path

import pytest

from chapterhouse.ingest.privacy import check_privacy, make_private


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A home folder that only its owner can enter."""
    home = tmp_path / "home"
    (home / "personas").mkdir(parents=True)
    (home / "personas" / "maria.toml").write_text("x")
    for path in (home, home / "personas"):
        path.chmod(0o700)
    (home / "personas" / "maria.toml").chmod(0o600)
    return home


def test_a_closed_home_passes(place: Path) -> None:
    found = check_privacy(place)
    assert (found.passed, found.hint) == (True, "")


def test_what_lies_in_a_closed_folder_cannot_be_reached(place: Path) -> None:
    (place / "personas" / "maria.toml").chmod(0o644)
    assert check_privacy(place).passed


def test_what_can_be_reached_is_named_with_its_mode(place: Path) -> None:
    for path in (place, place / "personas"):
        path.chmod(0o755)
    (place / "personas" / "maria.toml").chmod(0o644)
    found = check_privacy(place)
    assert not found.passed
    assert "maria.toml (0644)" in found.sentence
    assert "--fix" in found.hint


def test_a_home_whose_names_alone_are_seen_passes_with_a_hint(place: Path) -> None:
    place.chmod(0o755)
    found = check_privacy(place)
    assert found.passed
    assert "read none of it" in found.sentence
    assert found.hint
    place.chmod(0o777)
    assert not check_privacy(place).passed


def test_many_are_counted(place: Path) -> None:
    place.chmod(0o755)
    for number in range(6):
        (place / f"{number}").write_text("x")
        (place / f"{number}").chmod(0o644)
    assert "and 4 more" in check_privacy(place).sentence


def test_closing_closes_everything_but_follows_no_link(place: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("x")
    outside.chmod(0o644)
    (place / "link").symlink_to(outside)
    (place / "personas" / "maria.toml").chmod(0o664)
    place.chmod(0o755)
    found = make_private(place)
    assert found.passed
    assert found.sentence.startswith("2 files and folders were open")
    assert outside.stat().st_mode & 0o777 == 0o644
    assert check_privacy(place).sentence == "Only you can read the home folder."


def test_what_cannot_be_closed_is_said(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place.chmod(0o755)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "chmod", refuse)
    found = make_private(place)
    assert not found.passed
    assert "1 could not be closed" in found.sentence
    assert found.hint
