from pathlib import Path

import pytest

from chapterhouse.agents import persona
from chapterhouse.agents.curated import Known, base_folder, save_state
from chapterhouse.agents.personas import validate
from chapterhouse.agents.problems import (
    Problem,
    References,
    Severity,
)
from chapterhouse.store.definitions import PERSONA_MARKS, Definitions

AROUND = References(
    personas={"maria": True, "tom": True},
    shelves=frozenset({"library", "maria"}),
    models=frozenset({"local"}),
)


@pytest.fixture
def maria(personas: Definitions) -> Path:
    made = persona.create(personas, "maria")
    (made.path / "persona.md").write_text("# Maria\n\nShe knows the tides.\n")
    persona.change(personas, "maria", {"tags": ["tides"]})
    return made.path


def problems_of(path: Path) -> tuple[Problem, ...]:
    return validate(Definitions(path.parent, PERSONA_MARKS), path.name, AROUND)


def found(path: Path) -> list[tuple[str, str, str]]:
    problems = problems_of(path)
    assert all(problem.hint and problem.sentence for problem in problems)
    return [
        (problem.file.removeprefix("maria/"), problem.place, problem.severity.value)
        for problem in problems
    ]


def test_a_good_folder_has_no_problem(personas: Definitions, maria: Path) -> None:
    (maria / "RAG" / "tides.md").write_text(
        "---\nid: tides\npersonas: [maria, tom]\n---\n# Tides\n"
    )
    (maria / "RAW-DOCS" / "pages.links").write_text("https://example.org/a | Tides\n# a comment\n")
    persona.change(
        personas, "maria", {"shelves": ["tom", "library"], "model": "local", "folders": ["RAG"]}
    )
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
    personas: Definitions,
    maria: Path,
    changes: dict[str, object],
    expected: tuple[str, str, str] | None,
) -> None:
    persona.change(personas, "maria", changes)
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
    problems = problems_of(maria)
    assert [problem.place for problem in problems] == ["line 2", "line 4"]
    assert not any("secret" in problem.sentence for problem in problems)
    (maria / "RAW-DOCS" / "pages.links").write_bytes(b"\xff")
    assert found(maria) == [("RAW-DOCS/pages.links", "", "error")]


def test_files_that_could_not_be_read(maria: Path) -> None:
    torn = Known("", code="damaged", sentence="It is torn.")
    made = Known("tides", code="damaged", sentence="What was made earlier stays.", made=True)
    save_state(maria / "RAG", {"x.pdf": torn, "y.pdf": made})
    assert found(maria) == [("RAW-DOCS/x.pdf", "damaged", "warning")]
    (base_folder(maria / "RAG") / "curated.json").write_text("torn")
    assert found(maria) == [("RAG", "", "error")]


def test_one_problem_hides_no_other(maria: Path) -> None:
    (maria / "persona.config.json").write_text('{"slug": "tom", "tags": 1, "x": 2}')
    (maria / "persona.md").write_text("")
    (maria / "RAG" / "a.md").write_text("x")
    (maria / "RAW-DOCS" / "a.links").write_text("nonsense")
    problems = problems_of(maria)
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
