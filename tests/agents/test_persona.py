import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.agents import persona
from chapterhouse.agents.curated import CurationRecord, base_folder, save_state
from chapterhouse.agents.definition import PERSONA_TEMPLATES, parse_definition
from chapterhouse.agents.incoming import links_of
from chapterhouse.agents.persona import PERSONA_SCHEMA, PersonaConfig, value_of
from chapterhouse.agents.personas import validate
from chapterhouse.agents.problems import Code, PersonaConfigError, Problem, References, Severity
from chapterhouse.errors import NotFoundError, UsageError
from chapterhouse.store.definitions import PERSONA_MARKS, Definitions


def parsed(data: bytes) -> PersonaConfig:
    return parse_definition(data, PERSONA_SCHEMA).required()


def problems(text: str | bytes) -> list[tuple[str, str, str]]:
    data = text if isinstance(text, bytes) else text.encode()
    with pytest.raises(PersonaConfigError) as caught:
        parsed(data)
    assert all(problem.hint for problem in caught.value.problems)
    return [(problem.place, problem.sentence, problem.hint) for problem in caught.value.problems]


def reasons(data: bytes) -> list[str]:
    try:
        parsed(data)
    except PersonaConfigError as error:
        return [problem.sentence for problem in error.problems]
    return []


def inside(values: dict[str, Any]) -> str:
    return json.dumps({"slug": "maria", **values})


@pytest.mark.parametrize(
    ("values", "key", "reason", "hint"),
    [
        ({"retrieval": {"max_chunks": 0}}, "retrieval.max_chunks", "at least 1, not 0", "docs"),
        ({"retrieval": {"max_chunks": "12"}}, "retrieval.max_chunks", 'whole number, not "12"', ""),
        ({"retrieval": {"recency": 2}}, "retrieval.recency", "at most 1, not 2", ""),
        ({"retrieval": {"vector_threshold": "x"}}, "retrieval.vector_threshold", "a number", ""),
        ({"tags": "tides"}, "tags", "a list in square brackets", ""),
        ({"tags": ["tides", 1]}, "tags[1]", "text in double quotes, not 1", ""),
        ({"tags": ["a\u200bb"]}, "tags[0]", "invisible", ""),
        ({"tags": ["a\nb"]}, "tags[0]", "one line", ""),
        ({"display_name": "x" * 81}, "display_name", "at most 80 characters", ""),
        ({"grounding": "never"}, "grounding", "'inject', 'tool' or 'both', not \"never\"", "Most"),
        ({"out_of_scope": None}, "out_of_scope", "'defer'", "Most"),
        ({"memory": {"enabled": "yes"}}, "memory.enabled", 'true or false, not "yes"', ""),
        ({"shelves": ["../x"]}, "shelves[0]", "cannot be the name of a shelf", "status"),
        ({"slug": "Maria Keller"}, "slug", "lower-case", "folder is called"),
        ({"slug": "library"}, "slug", "reserved", "folder is called"),
        ({"max_chunks": 3}, "max_chunks", "no key", "'retrieval.max_chunks'"),
        ({"retrieval": {"max_chunk": 3}}, "retrieval.max_chunk", "no key", "max_chunks"),
        ({"colour": "red"}, "colour", "no key", "There are: answer, display_name"),
    ],
)
def test_what_is_wrong_is_named_by_key(
    values: dict[str, Any], key: str, reason: str, hint: str
) -> None:
    (found,) = problems(inside(values))
    assert found[0] == key
    assert reason in found[1]
    assert hint in found[2]


def test_all_problems_come_at_once() -> None:
    found = problems('{"tags": [1], "grounding": "x", "colour": 2}')
    assert [key for key, _, _ in found] == ["slug", "tags[0]", "grounding", "colour"]
    with pytest.raises(PersonaConfigError, match="slug: 'slug' is missing") as caught:
        parsed(b'{"tags": [1]}')
    assert "1 more" in caught.value.hint


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text(max_size=5), below),
    max_leaves=5,
)


@given(
    st.binary(max_size=200) | st.text(max_size=100).map(str.encode),
    st.dictionaries(st.sampled_from([*PersonaConfig.model_fields, "x"]), json_values, max_size=5),
)
def test_no_bytes_and_no_values_make_it_fail_otherwise(data: bytes, values: dict[str, Any]) -> None:
    for one in (data, json.dumps(values).encode()):
        assert all(reasons(one))


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("retrieval.max_chunks", "8", 8),
        ("memory.enabled", "false", False),
        ("memory.days", "null", None),
        ("tags", "tides, harbour", ["tides", "harbour"]),
        ("tags", '["a, b"]', ["a, b"]),
        ("tags", "", []),
        ("profile.key_terms", "slipway", ["slipway"]),
        ("display_name", "Maria Keller", "Maria Keller"),
        ("display_name", "1984", "1984"),
        ("display_name", '"Maria"', "Maria"),
        ("grounding", "tool", "tool"),
        ("retrieval.recency", "NaN", "NaN"),
    ],
)
def test_values_from_a_command_line(key: str, text: str, value: object) -> None:
    assert value_of(key, text) == value


def test_a_new_persona_is_whole(personas: Definitions, tmp_path: Path) -> None:
    made = persona.create(personas, "maria-keller", folders=["~/papers", "../else", "/srv/x"])
    assert made == persona.load(personas, "maria-keller")
    assert made.display_name == "Maria Keller"
    assert "Maria Keller is an expert" in made.prose
    assert made.raw.is_dir()
    assert made.rag.is_dir()
    assert made.folders == (
        Path.home() / "papers",
        tmp_path / "maria-keller" / "../else",
        Path("/srv/x"),
    )
    assert personas.names() == ("maria-keller",)
    assert made.persona.reads == ("maria-keller",)


def test_what_cannot_be_made_leaves_nothing(personas: Definitions, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="expret") as caught:
        persona.create(personas, "maria", template="expret")
    assert "expert" in caught.value.hint
    for slug in (
        "", "Maria", "maria keller", "-maria", "maria-", "a--b", "../x", "a/b", ".", "library",
        "all", "none", "ä", "a" * 41, "a\n", "a\x00",
    ):  # fmt: skip
        with pytest.raises(UsageError):
            persona.create(personas, slug)
    assert list(tmp_path.iterdir()) == []


def test_what_is_missing_in_a_folder_is_made(personas: Definitions, tmp_path: Path) -> None:
    (tmp_path / "maria").mkdir()
    (tmp_path / "maria" / "persona.md").write_text("I know the tides.")
    made = persona.create(personas, "maria", display_name="  Maria\u202e\n Keller ")
    assert (made.prose, made.display_name) == ("I know the tides.", "Maria Keller")
    assert (made.path / "persona.config.json").exists()


def test_prose_is_visible_text_of_a_size(personas: Definitions, tmp_path: Path) -> None:
    prose = persona.create(personas, "maria").path / "persona.md"
    prose.write_text("Tides\u200b and\u202e gates\r\n")
    assert persona.load(personas, "maria").prose == "Tides and gates"
    for data, reason in ((b"a\nb\xff", "line 2"), (b"x" * 100_001, "100,001 characters")):
        prose.write_bytes(data)
        with pytest.raises(PersonaConfigError, match=reason):
            persona.load(personas, "maria")
    prose.unlink()
    assert persona.load(personas, "maria").prose == ""


def test_a_folder_has_the_name_of_its_persona(personas: Definitions, tmp_path: Path) -> None:
    persona.create(personas, "maria").path.rename(tmp_path / "tom")
    with pytest.raises(PersonaConfigError, match="It is 'maria', but the folder is called 'tom'"):
        persona.load(personas, "tom")


def test_keys_are_changed_one_by_one(personas: Definitions, tmp_path: Path) -> None:
    made = persona.create(personas, "maria")
    changed = persona.change(personas, "maria", {"retrieval.recency": 0.5, "tags": ["tides"]})
    assert changed == persona.load(personas, "maria")
    assert changed.config.retrieval.recency == 0.5
    assert changed.config.retrieval.max_chunks == 12
    before = (made.path / "persona.config.json").read_bytes()
    for wrong in ({"retrieval.recency": 5}, {"retrieval.nothing": 1}):
        with pytest.raises(PersonaConfigError):
            persona.change(personas, "maria", wrong)
    with pytest.raises(UsageError, match="folder's name"):
        persona.change(personas, "maria", {"slug": "tom"})
    assert (made.path / "persona.config.json").read_bytes() == before


@pytest.mark.parametrize("template", PERSONA_TEMPLATES)
def test_every_template_makes_a_persona(personas: Definitions, template: str) -> None:
    made = persona.create(personas, "maria", display_name="María {x}", template=template)
    assert made.prose.startswith("# María {x}")
    assert "{display_name}" not in made.prose


def test_edits_keep_what_its_owner_wrote(personas: Definitions, tmp_path: Path) -> None:
    path = tmp_path / "maria" / "persona.config.json"
    path.parent.mkdir()
    raw = {"tags": ["ö"], "slug": "maria", "retrieval": {"max_chunks": 3}}
    path.write_text(json.dumps(raw))
    path.chmod(0o600)
    persona.change(personas, "maria", {"retrieval.recency": 0.5, "model": "none"})
    changed = {**raw, "retrieval": {"max_chunks": 3, "recency": 0.5}, "model": "none"}
    assert list(json.loads(path.read_text("utf-8")).items()) == list(changed.items())
    assert "ö" in path.read_text("utf-8")
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(path.parent.iterdir()) == [path]
    with pytest.raises(UsageError, match="'tags' is no object"):
        persona.change(personas, "maria", {"tags.first": "x"})


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


def test_tags_are_those_of_the_configuration(maria: Path) -> None:
    document = maria / "RAG" / "tides.md"
    document.write_text("---\nid: tides\ntags: [Spring_Tide, slack water]\n---\n# Tides\n")
    config = maria / "persona.config.json"
    values = {**json.loads(config.read_text()), "tags": ["spring tide"]}
    config.write_text(json.dumps(values))
    (problem,) = [one for one in problems_of(maria) if one.code is Code.UNKNOWN]
    assert "'slack water'" in problem.sentence
    config.write_text(json.dumps({**values, "profile": {"key_terms": ["slack water"]}}))
    assert not [one for one in problems_of(maria) if one.code is Code.UNKNOWN]


def test_a_list_of_pages_may_have_any_ending(maria: Path) -> None:
    links = maria / "RAW-DOCS" / "samsung-links-list.md"
    links.write_text("# Samsung\n\n- [A](https://example.org/a)\n* https://example.org/b | B\n")
    assert [link.title for link in links_of(maria / "RAW-DOCS")] == ["A", "B"]
    links.write_text("# Samsung\n\nSee https://example.org/a for what they say.\n")
    assert links_of(maria / "RAW-DOCS") == ()


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
    torn = CurationRecord("", code="damaged", sentence="It is torn.")
    made = CurationRecord(
        "tides", code="damaged", sentence="What was made earlier stays.", made=True
    )
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
    (maria / "persona.config.json").unlink()
    assert found(maria)[0] == ("persona.config.json", "", "error")
    severities = [problem.severity for problem in problems]
    assert severities == sorted(severities, key=list(Severity).index)
