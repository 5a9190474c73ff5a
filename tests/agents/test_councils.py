import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from chapterhouse import Library
from chapterhouse.agents.council import Council, council_from
from chapterhouse.agents.council_model import MOST_MEMBERS, SEARCH_TOOLS, Member
from chapterhouse.agents.councils import Councils, folder_members, name_by_documents
from chapterhouse.agents.definition import COUNCIL_TEMPLATES
from chapterhouse.agents.problems import Code, CouncilConfigError, errors
from chapterhouse.agents.registry import Refresh
from chapterhouse.errors import NotFoundError, RefusedError, UsageError
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.pool import ReadingPool
from chapterhouse.text.naming import valid_name
from chapterhouse.types import Document

TARIFFS = "# Tariffs\n\nA berth at the quay costs 80 euros a metre.\n"
RULES = "# Rules\n\nGuests pay less in winter.\n"
SHELF = "council_berths"


@pytest.fixture(scope="module")
def pool() -> Iterator[ReadingPool]:
    opened = ReadingPool(1, Limits())  # of all tests: its process takes long to start
    yield opened
    opened.close()


@pytest.fixture
def library(tmp_path: Path, pool: ReadingPool) -> Iterator[Library]:
    with Library.open(tmp_path / "home") as opened:
        yield Library(replace(opened._runtime, read=pool.submit))


@pytest.fixture
def councils(library: Library) -> Councils:
    return library.councils


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "tariffs.md").write_text(TARIFFS)
    return folder


def made(councils: Councils, slug: str = "berths", name: str = "") -> Path:
    return councils.create(council_from("decision", slug, display_name=name)).path


def link(councils: Councils, folder: Path, slug: str = "berths") -> Refresh:
    councils.add_folder(slug, str(folder))
    return councils.refresh(slug)


def unlink(councils: Councils, slug: str = "berths") -> Refresh:
    file = councils.folder(slug) / "council.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "folders": []}))
    return councils.refresh(slug)


def shelf(library: Library, name: str = SHELF) -> list[str]:
    return sorted(document.source for document in library.documents.list((name,)))


@pytest.mark.parametrize("template", COUNCIL_TEMPLATES)
def test_a_template_makes_what_can_meet(
    library: Library, councils: Councils, template: str
) -> None:
    personas = [library.personas.create(slug).slug for slug in ("maria", "tom")]
    folder = councils.create(council_from(template, "berths", personas=personas))
    assert councils.validate("berths") == ()
    assert councils.require("berths") == folder.council == councils.load("ber").council
    assert json.loads(folder.file.read_text())["slug"] == "berths"
    assert folder.docs.is_dir()


def test_a_council_is_made_once_and_overwrites_nothing(
    library: Library, councils: Councils
) -> None:
    (library.home / "councils" / "berths" / "docs").mkdir(parents=True)
    (library.home / "councils" / "berths" / "docs" / "kept.md").write_text(RULES)
    assert councils.all()[0].problems[0].code is Code.UNREADABLE
    path = made(councils)
    assert (path / "docs" / "kept.md").read_text() == RULES
    with pytest.raises(RefusedError, match="already"):
        made(councils)
    for slug in ("Berths", "council", "../x", ""):
        with pytest.raises(UsageError):
            councils.create(Council.new(slug))
    assert councils.names() == ("berths",)


def test_a_broken_file_does_not_hide_the_others(councils: Councils) -> None:
    made(councils)
    torn = made(councils, "torn") / "council.json"
    torn.write_text('{"slug": "torn", "membres": []}')
    good, broken = councils.all()
    assert good.folder
    assert broken.folder is None
    assert [problem.path for problem in broken.problems] == [("membres",)]
    with pytest.raises(CouncilConfigError, match=r"torn/council.json: membres"):
        councils.load("torn")
    assert {problem.slug for problem in errors(councils.validate())} == {"torn"}
    torn.write_text('{"slug": "berths"}')
    with pytest.raises(CouncilConfigError, match="but the folder is called 'torn'"):
        councils.load("torn")


def test_validation_knows_the_library(library: Library, councils: Councils) -> None:
    library.personas.create("maria")
    library.personas.create("tom").path.joinpath("persona.config.json").write_text("{")
    for slug in ("inner", "torn", "around"):
        made(councils, slug)
    (councils.folder("torn") / "council.json").write_text('{"slug": "torn"}')
    (councils.folder("around") / "council.json").write_text(
        Council.new("around")
        .add_member(council="torn")
        .add_round("independent_analysis")
        .add_round("synthesis")
        .chair("maria")
        .to_json()
    )
    council = council_from("decision", "berths")
    council = council.add_tool(*sorted(SEARCH_TOOLS), "search_graf").default_model("big")
    for persona in ("maria", "tom", "mario"):
        council = council.add_member(persona, shelves=["council_inner", "nowhere"])
    for slug in ("inner", "torn", "around", "berths", "outer"):
        council = council.add_member(council=slug)
    councils.create(council.link("gone"))
    assert [(problem.place, problem.code.value) for problem in councils.validate("berths")] == [
        ("model", "model-unknown"),
        ("tools[4]", "unknown"),
        ("members[2].shelves[1]", "unknown"),
        ("members[3].persona", "persona-broken"),
        ("members[3].shelves[1]", "unknown"),
        ("members[4].persona", "unknown"),
        ("members[4].shelves[1]", "unknown"),
        ("members[6].council", "council-broken"),
        ("members[7].council", "council-broken"),  # as it contains a broken one
        ("members[8].council", "cycle"),
        ("members[9].council", "unknown"),
        ("folders[0]", "folder-missing"),
    ]
    (councils.folder("torn") / "council.json").write_text('{"slug": "torn",')
    assert [problem.code for problem in councils.validate("torn")] == [Code.NOT_JSON]
    built = Council.new("built").add_member(council="around")
    assert Code.COUNCIL_BROKEN in {problem.code for problem in councils.validate(built)}
    with pytest.raises(CouncilConfigError):
        councils.require(built)


def test_a_linked_folder_is_read_once(library: Library, councils: Councils, papers: Path) -> None:
    file = made(councils) / "council.json"
    raw = json.loads(file.read_text())
    file.write_text(json.dumps({"rounds": raw.pop("rounds"), **raw}))  # as its owner wrote it
    assert link(councils, papers).changed
    assert next(iter(json.loads(file.read_text()))) == "rounds"
    assert json.loads(file.read_text())["folders"] == [str(papers)]
    assert shelf(library) == ["papers/tariffs.md"]
    other = papers.with_name("other")
    other.symlink_to(papers)
    for again in (f"{papers}/../papers", str(other)):
        assert councils.add_folder("berths", again).council.folders == (str(papers),)
    made(councils, "other")
    unread = Councils(replace(councils._runtime, read=None))  # type: ignore[arg-type]  # nothing is read
    link(unread, papers, "other")  # only its shelf is another one
    assert [document.shelves for document in library.documents.list()] == [
        ("council_berths", "council_other")
    ]
    assert councils.is_current("berths")
    assert councils.is_current("other")


def test_a_folder_that_is_taken_out_leaves_with_what_nobody_else_has(
    library: Library, councils: Councils, papers: Path, tmp_path: Path
) -> None:
    made(councils)
    more = tmp_path / "more"
    more.mkdir()
    (more / "rules.md").write_text(RULES)
    library.documents.add(more)
    for folder in (papers, more):
        link(councils, folder)
    assert shelf(library) == ["more/rules.md", "papers/tariffs.md"]
    sync = unlink(councils).sync
    assert sync
    assert sync.removed == ("papers/tariffs.md",)
    assert (shelf(library), shelf(library, "library")) == ([], ["more/rules.md"])
    assert (papers / "tariffs.md").exists()
    for absent in (tmp_path / "gone", papers / "tariffs.md"):
        with pytest.raises(NotFoundError):
            councils.add_folder("berths", str(absent))
    with pytest.raises(UsageError, match=r"\\xff is not UTF-8"):
        councils.add_folder("berths", f"{papers}/\udcff")


def test_shared_and_own_shelves_are_apart(
    library: Library, councils: Councils, papers: Path
) -> None:
    house = library.personas
    house.create("maria", folders=[str(papers)])
    house.create("berths")  # a persona of the council's name has another shelf
    (papers / "named.md").write_text("---\npersonas: [berths]\n---\n# Named\n\nSome words.\n")
    made(councils)
    link(councils, papers)
    assert shelf(library) == ["papers/named.md", "papers/tariffs.md"]
    assert shelf(library, "maria") == shelf(library, "berths") == []
    house.refresh("maria")
    both = ["papers/named.md", "papers/tariffs.md"]
    assert (shelf(library), shelf(library, "maria")) == (both, both)
    for _ in range(2):  # neither takes away what is the other's
        assert councils.is_current("berths")
        assert house.is_current("maria")
        house.refresh("berths")
        house.refresh("maria")
        councils.refresh("berths")
    unlink(councils)
    assert (shelf(library), shelf(library, "maria")) == ([], both)
    link(councils, papers)
    house.change("maria", {"folders": "[]"})
    house.refresh("maria")
    assert "papers/tariffs.md" in shelf(library)
    assert shelf(library, "maria") == []


def test_a_folder_that_is_away_keeps_its_documents(
    library: Library, councils: Councils, papers: Path
) -> None:
    made(councils)
    link(councils, papers)
    away = papers.rename(papers.with_name("away"))
    refresh = councils.refresh("berths")
    assert "is not there; what was read of it before stays" in refresh.warnings[0]
    assert shelf(library) == ["papers/tariffs.md"]
    assert [problem.code for problem in councils.validate("berths")] == [
        Code.FOLDER_MISSING,
        Code.NEEDS_MODEL,
    ]
    away.rename(papers)
    assert councils.is_current("berths")


def test_a_file_that_changed_meanwhile_is_not_written_over(
    councils: Councils, papers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = made(councils)
    folder = councils.load("berths")
    (path / "council.json").write_text('{"slug": "berths",')
    monkeypatch.setattr(councils, "_load", lambda _: folder)
    with pytest.raises(CouncilConfigError):
        link(councils, papers)
    assert (path / "council.json").read_text() == '{"slug": "berths",'


def test_the_shelf_belongs_to_the_council(
    library: Library, councils: Councils, papers: Path
) -> None:
    with pytest.raises(UsageError, match="belong to councils"):
        library.documents.add(papers, shelf=SHELF)  # nor would it stay when the council is made


def over(library: Library, folder: Path) -> Council:
    """A council with a member for each entry of a folder, its documents read."""
    council = council_from("contracts", "berths", members=folder_members(str(folder)))
    library.councils.create_and_read(council)
    return library.councils.load("berths").council


def test_each_member_reads_their_own(library: Library, councils: Councils, papers: Path) -> None:
    (papers / "copy.md").write_text(TARIFFS)  # the same content, and a member all the same
    (papers / "more").mkdir()
    (papers / "more" / "rules.md").write_text(RULES)
    council = over(library, papers)
    assert [member.name for member in council.members] == ["copy", "more", "tariffs"]
    assert errors(councils.validate("berths")) == ()
    assert Council.from_json(council.to_json()) == council
    assert shelf(library, "council_berths_copy") == ["papers/copy.md"]
    assert shelf(library, "council_berths_more") == ["papers/more/rules.md"]
    assert councils.census("berths").documents == len(councils.documents("berths")) == 3
    assert councils.is_current("berths")
    minutes = library.councils.convene("berths", "What does a berth at the quay cost a metre?")
    (row,) = minutes.table
    quoted = {cell.member: "80" in cell.text for cell in row.cells}
    assert quoted == {"copy": True, "more": False, "tariffs": True}
    (papers / "more" / "winter.md").write_text("# Winter\n\nThe quay is closed in winter.\n")
    (papers / "copy.md").write_text(TARIFFS.replace("80", "90"))
    assert not councils.is_current("berths")
    assert councils.refresh("berths").sentence == "The documents of Berths had changed: 2 read."
    assert len(shelf(library, "council_berths_more")) == 2
    (papers / "tariffs.md").write_text(RULES)
    checks = library.councils.recheck(minutes)  # reads what changed first
    assert sorted(check.start < 0 for check in checks) == [True, True]  # both say otherwise now
    assert councils.is_current("berths")


def test_members_are_called_after_their_documents(library: Library, tmp_path: Path) -> None:
    for year in (2025, 2023):
        (tmp_path / "rules").mkdir(exist_ok=True)
        (tmp_path / "rules" / f"rules-{year}.md").write_text(RULES)
    council = over(library, tmp_path / "rules")
    assert [member.name for member in council.members] == ["Rules, 2023", "Rules, 2025"]
    assert shelf(library, "council_berths_rules-2023") == ["rules/rules-2023.md"]
    assert shelf(library, "council_berths_2-rules-2025") == []


def test_who_leaves_takes_documents_along(
    library: Library, councils: Councils, papers: Path
) -> None:
    (papers / "rules.md").write_text(RULES)
    council = over(library, papers)
    library.documents.add(papers / "rules.md")
    (councils.folder("berths") / "council.json").write_text(
        replace(council, members=council.members[1:]).to_json()
    )
    assert not councils.is_current("berths")
    councils.refresh("berths")
    (councils.folder("berths") / "council.json").write_text(
        replace(council, members=()).add_member(name="All", instructions="Speak.").to_json()
    )
    councils.refresh("berths")
    assert [(one.source, one.shelves) for one in library.documents.list()] == [
        ("papers/rules.md", ("library",))
    ]


def test_what_cannot_be_read_is_told(library: Library, councils: Councils, papers: Path) -> None:
    (papers / "torn.pdf").write_bytes(b"%PDF-1.7 torn")
    (papers / "program.exe").write_bytes(b"\x00\x01\x02")
    council = over(library, papers)
    assert [member.key for member in council.members] == ["tariffs", "torn"]
    (warning,) = councils.refresh("berths").warnings
    assert "Nothing can be read of what torn" in warning
    assert warning in library.councils.convene("berths", "What does a berth cost?").warnings
    (papers / "tariffs.md").unlink()
    assert "tariffs.md is not there" in councils.refresh("berths").warnings[0]
    assert [problem.place for problem in errors(councils.validate("berths"))] == [
        "members[0].folders[0]"
    ]


def test_a_long_name_gives_a_shelf_too() -> None:
    members = [Member(name=name, folders=("x",)) for name in ("Берег", "Бухта", "Quay")]
    shelves = [member.own_shelf("a" * 40)[0] for member in members]
    assert len(set(shelves)) == len(shelves)
    assert all(map(valid_name, shelves))
    assert Member(name="Quay").own_shelf("berths") == ()


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
    (tmp_path / "empty" / b"\xff.md".decode("utf-8", "surrogateescape")).write_text("x")
    with pytest.raises(UsageError, match=r"xff\.md is not UTF-8"):
        folder_members(str(tmp_path / "empty"))


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
