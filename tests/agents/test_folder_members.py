"""Members from a folder: which there are, their order, and names that differ."""

from pathlib import Path

import pytest

from chapterhouse.agents.council_model import MOST_MEMBERS, Member
from chapterhouse.agents.councils import folder_members, name_by_documents
from chapterhouse.errors import NotFoundError, UsageError
from chapterhouse.types import Document


def filled(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("Rent is 10 euros.\n")
    return folder


def names(path: object) -> list[str]:
    return [member.name for member in folder_members(str(path))]


def document(title: str, source: str = "x.md", **metadata: str) -> Document:
    return Document(
        source, source, f"/{source}", title, "md", "text", "", "", 1, 0, metadata=metadata
    )


def test_every_file_and_subfolder_is_a_member_in_natural_order(tmp_path: Path) -> None:
    filled(tmp_path, "v10.md", "v2.md", "Lease_of%20the-pier.txt", "notes/a.md", "notes/deep/b.md")
    filled(tmp_path, ".hidden.md", "~$open.docx", "2024-05-03.md")
    (tmp_path / "empty").mkdir()
    (tmp_path / "link.md").symlink_to(tmp_path / "v2.md")
    assert names(tmp_path) == ["2024-05-03", "Lease of the pier", "notes", "v2", "v10"]
    assert folder_members(str(tmp_path))[2].folders == (str(tmp_path / "notes"),)
    assert names(tmp_path / "v*") == ["v2", "v10"]


def test_several_folders_give_the_members_of_all(tmp_path: Path) -> None:
    filled(tmp_path / "one", "a.md", "b.md")
    filled(tmp_path / "two", "b.md", "c.md")
    found = folder_members(*(str(tmp_path / name) for name in ("one", "two", "one")))
    assert [Path(member.folders[0]).relative_to(tmp_path).as_posix() for member in found] == [
        "one/a.md", "one/b.md", "two/b.md", "two/c.md",
    ]  # fmt: skip
    assert len({member.key for member in found}) == len(found)


def test_names_give_keys_of_their_own(tmp_path: Path) -> None:
    long = "Addendum on the processing of personal data, version"
    filled(tmp_path, f"{long} 2.md", f"{long} 10.md", "chair.md", "a.md", "a.txt", "….md")
    found = folder_members(str(tmp_path))
    assert [member.name for member in found] == ["1. a", "2. a", "2", "10", "5. chair", "6. …"]
    assert len({member.key for member in found}) == len(found)


def test_nothing_and_too_much_are_told(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for nothing in (tmp_path / "empty", tmp_path / "gone", tmp_path / "gone" / "*"):
        with pytest.raises(NotFoundError, match="no file and no folder with files"):
            folder_members(str(nothing))
    many = filled(tmp_path / "many", *(f"{number}.md" for number in range(MOST_MEMBERS + 1)))
    with pytest.raises(UsageError, match=f"{MOST_MEMBERS + 1} files and folders"):
        folder_members(str(many))
    assert len(folder_members(str(many / "[1-5]*"))) < MOST_MEMBERS


def test_a_name_that_is_no_text_is_told(tmp_path: Path) -> None:
    (tmp_path / b"\xff.md".decode("utf-8", "surrogateescape")).write_text("x")
    with pytest.raises(UsageError, match=r"xff\.md is not UTF-8"):
        folder_members(str(tmp_path))


def test_titles_name_members_where_they_tell_all_apart() -> None:
    persona = Member(persona="maria")
    members = (persona, Member(name="b", folders=("b",)), Member(name="a", folders=("a",)))

    def named(b: Document, a: Document) -> list[str]:
        return [one.key for one in name_by_documents(members, {"b": (b,), "a": (a,)})]

    assert named(document("Lease"), document("Rent")) == ["maria", "lease", "rent"]
    versions = document("Policy", date="2025-11-01"), document("Policy", "policy-2023.md")
    assert named(*versions) == ["maria", "policy-2023", "policy-2025-11-01"]
    for title in ("Lease", "Chair", "Maria", "", "A title of many words, " * 3):
        assert named(document("Lease"), document(title)) == ["maria", "b", "a"]
    several = {"b": (document("Lease"), document("Rent")), "a": (document("Policy"),)}
    assert [one.key for one in name_by_documents(members, several)] == ["maria", "b", "policy"]
