from collections.abc import Callable
from pathlib import Path

import pytest

from chapterhouse.agents import persona_folder as folder
from chapterhouse.agents.checks import References
from chapterhouse.agents.persona_checks import Unread, validate
from chapterhouse.agents.problems import Severity
from chapterhouse.errors import ChapterhouseError

AROUND = References(
    personas={"maria": True, "tom": True},
    shelves=frozenset({"library", "maria"}),
    models=frozenset({"local"}),
)


@pytest.fixture
def maria(tmp_path: Path) -> Path:
    made = folder.create(tmp_path, "maria")
    (made.path / "persona.md").write_text("# Maria\n\nShe knows the tides.\n")
    folder.change(made.path, {"tags": ["tides"]})
    return made.path


def found(
    path: Path, unread: Callable[[Path], list[Unread]] = lambda _: []
) -> list[tuple[str, str, str]]:
    problems = validate(path, AROUND, unread)
    assert all(problem.hint and problem.sentence for problem in problems)
    return [
        (problem.file.removeprefix("maria/"), problem.place, problem.severity.value)
        for problem in problems
    ]


def test_a_good_folder_has_no_problem(maria: Path) -> None:
    (maria / "RAG" / "tides.md").write_text(
        "---\nid: tides\npersonas: [maria, tom]\n---\n# Tides\n"
    )
    (maria / "RAW-DOCS" / "pages.links").write_text("https://example.org/a | Tides\n# a comment\n")
    folder.change(maria, {"shelves": ["tom", "library"], "model": "local", "folders": ["RAG"]})
    assert found(maria) == []


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"tags": []}, ("persona.config.json", "tags", "warning")),
        ({"tags": ["Sea Fog", "x", "sea-fog"]}, ("persona.config.json", "tags[2]", "warning")),
        ({"tags": ["x", "x"]}, ("persona.config.json", "tags[1]", "warning")),
        ({"folders": ["RAG", "nowhere"]}, ("persona.config.json", "folders[1]", "error")),
        ({"folders": ["persona.md"]}, ("persona.config.json", "folders[0]", "error")),
        ({"folders": ["~nobody-is-called-so/x"]}, ("persona.config.json", "folders[0]", "error")),
        ({"shelves": ["nowhere"]}, ("persona.config.json", "shelves[0]", "error")),
        ({"shelves": ["maria"]}, ("persona.config.json", "shelves[0]", "warning")),
        ({"model": "cloud"}, ("persona.config.json", "model", "error")),
        ({"model": "none"}, None),
        ({"exclude": ["RAG/gone.md"]}, ("persona.config.json", "exclude[0]", "warning")),
    ],
)  # fmt: skip
def test_what_the_configuration_points_at(
    maria: Path, changes: dict[str, object], expected: tuple[str, str, str] | None
) -> None:
    folder.change(maria, changes)
    assert found(maria) == ([expected] if expected else [])


@pytest.mark.parametrize(
    ("prose", "severity"),
    [
        (b"", "warning"),
        (b"# Maria\n\n", "warning"),
        (b"Write here, in your own words, ...", "warning"),
        (b"\xff", "error"),
    ],
)
def test_a_description_that_says_nothing(maria: Path, prose: bytes, severity: str) -> None:
    (maria / "persona.md").write_bytes(prose)
    assert found(maria) == [("persona.md", "", severity)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"# Tides\n", ("RAG/tides.md", "front matter", "warning")),
        (b"---\nid: tides\n# Tides\n", ("RAG/tides.md", "front matter", "error")),
        (b"---\ntitle: x\n---\n", ("RAG/tides.md", "id", "warning")),
        (b"---\nid: The Tides\n---\n", ("RAG/tides.md", "id", "warning")),
        (b"---\nid: tides\npersonas: [anna]\n---\n", ("RAG/tides.md", "personas", "warning")),
        (b"---\nid: t\xff\n---\n", ("RAG/tides.md", "", "error")),
        (b"---\r\nid: tides\r\n---\r\n", None),
        (b"---\nid: tides\n---\n" + "ö".encode() * 30_000, None),
    ],
)  # fmt: skip
def test_front_matter(maria: Path, text: bytes, expected: tuple[str, str, str] | None) -> None:
    (maria / "RAG" / "tides.md").write_bytes(text)
    assert found(maria) == ([expected] if expected else [])


def test_an_id_belongs_to_one_document(maria: Path) -> None:
    for name in ("a.md", "b.md"):
        (maria / "RAG" / name).write_text("---\nid: tides\n---\n")
    assert found(maria) == [("RAG/b.md", "id", "error")]


def test_lists_of_pages(maria: Path) -> None:
    lines = "https://example.org/a\nhttp://user:secret@example.org/\n\nftp://example.org\n"
    (maria / "RAW-DOCS" / "pages.links").write_text(lines)
    problems = validate(maria, AROUND)
    assert [problem.place for problem in problems] == ["line 2", "line 4"]
    assert not any("secret" in problem.sentence for problem in problems)
    (maria / "RAW-DOCS" / "pages.links").write_bytes(b"\xff")
    assert found(maria) == [("RAW-DOCS/pages.links", "", "error")]


def test_files_that_could_not_be_read(maria: Path) -> None:
    unread = Unread("RAW-DOCS/x.pdf", "It is torn.", "damaged")
    assert found(maria, lambda _: [unread]) == [("RAW-DOCS/x.pdf", "damaged", "warning")]

    def torn(_: Path) -> list[Unread]:
        raise ChapterhouseError("The state is torn.", hint="Move it away.")

    assert found(maria, torn) == [("RAG", "", "error")]


def test_one_problem_hides_no_other(maria: Path) -> None:
    (maria / "persona.config.json").write_text('{"slug": "tom", "tags": 1, "x": 2}')
    (maria / "persona.md").write_text("")
    (maria / "RAG" / "a.md").write_text("x")
    (maria / "RAW-DOCS" / "a.links").write_text("nonsense")
    problems = validate(maria, AROUND)
    assert [(problem.file.removeprefix("maria/"), problem.place) for problem in problems] == [
        ("persona.config.json", "slug"),
        ("persona.config.json", "tags"),
        ("persona.config.json", "x"),
        ("RAW-DOCS/a.links", "line 1"),
        ("persona.md", ""),
        ("RAG/a.md", "front matter"),
    ]
    severities = [problem.severity for problem in problems]
    assert severities == sorted(severities, key=list(Severity).index)


def test_a_folder_without_a_configuration(tmp_path: Path) -> None:
    (tmp_path / "maria" / "RAG").mkdir(parents=True)
    assert found(tmp_path / "maria")[0] == ("persona.config.json", "", "error")
