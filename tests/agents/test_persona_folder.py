from pathlib import Path

import pytest

from chapterhouse.agents import persona_folder as folder
from chapterhouse.agents.persona_templates import TEMPLATES
from chapterhouse.agents.problems import PersonaConfigError
from chapterhouse.errors import NotFoundError, RefusedError, UsageError


def test_a_new_persona_is_whole(tmp_path: Path) -> None:
    made = folder.create(tmp_path, "maria-keller", folders=["~/papers", "../else", "/srv/x"])
    assert made == folder.load(tmp_path / "maria-keller")
    assert made.display_name == "Maria Keller"
    assert "Maria Keller is an expert" in made.prose
    assert made.raw.is_dir()
    assert made.rag.is_dir()
    assert made.folders == (
        Path.home() / "papers",
        tmp_path / "maria-keller" / "../else",
        Path("/srv/x"),
    )
    assert folder.names(tmp_path) == ("maria-keller",)
    assert made.persona.reads == ("maria-keller",)


@pytest.mark.parametrize("template", TEMPLATES)
def test_every_template_makes_a_persona(tmp_path: Path, template: str) -> None:
    made = folder.create(tmp_path, "maria", display_name="María {x}", template=template)
    assert made.prose.startswith("# María {x}")
    assert "{display_name}" not in made.prose


def test_a_template_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="expret") as caught:
        folder.create(tmp_path, "maria", template="expret")
    assert "expert" in caught.value.hint
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "slug",
    ["", "Maria", "maria keller", "-maria", "maria-", "a--b", "../x", "a/b", ".", "library", "all",
     "none", "ä", "a" * 41, "a\n", "a\x00"],
)  # fmt: skip
def test_names_that_a_persona_cannot_have(tmp_path: Path, slug: str) -> None:
    with pytest.raises(UsageError):
        folder.create(tmp_path, slug)
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_written_over(tmp_path: Path) -> None:
    folder.create(tmp_path, "maria")
    before = (tmp_path / "maria" / "persona.config.json").read_bytes()
    with pytest.raises(RefusedError, match="already"):
        folder.create(tmp_path, "maria", display_name="Other")
    assert (tmp_path / "maria" / "persona.config.json").read_bytes() == before


def test_what_is_missing_in_a_folder_is_made(tmp_path: Path) -> None:
    (tmp_path / "maria").mkdir()
    (tmp_path / "maria" / "persona.md").write_text("I know the tides.")
    made = folder.create(tmp_path, "maria")
    assert made.prose == "I know the tides."
    assert made.config_path.exists()


def test_a_name_is_one_clean_line(tmp_path: Path) -> None:
    made = folder.create(tmp_path, "maria", display_name="  Maria\u202e\n Keller ")
    assert made.display_name == "Maria Keller"


def test_prose_has_nothing_invisible(tmp_path: Path) -> None:
    made = folder.create(tmp_path, "maria")
    (made.path / "persona.md").write_text("Tides\u200b and\u202e gates\r\n")
    assert folder.load(made.path).prose == "Tides and gates"
    (made.path / "persona.md").unlink()
    assert folder.load(made.path).prose == ""


@pytest.mark.parametrize(
    ("data", "reason"), [(b"a\nb\xff", "line 2"), (b"x" * 100_001, "100,001 characters")]
)
def test_prose_that_cannot_be_used(tmp_path: Path, data: bytes, reason: str) -> None:
    made = folder.create(tmp_path, "maria")
    (made.path / "persona.md").write_bytes(data)
    with pytest.raises(PersonaConfigError, match=reason):
        folder.load(made.path)


def test_a_folder_has_the_name_of_its_persona(tmp_path: Path) -> None:
    folder.create(tmp_path, "maria").path.rename(tmp_path / "tom")
    with pytest.raises(PersonaConfigError, match="It is 'maria', but the folder is called 'tom'"):
        folder.load(tmp_path / "tom")


def test_what_is_no_persona_is_not_listed(tmp_path: Path) -> None:
    assert folder.names(tmp_path / "nowhere") == ()
    for name in ("maria", ".hidden", "_template"):
        (tmp_path / name / "RAG").mkdir(parents=True)
    (tmp_path / "empty").mkdir()
    (tmp_path / "README.md").write_text("x")
    assert folder.names(tmp_path) == ("maria",)


def test_keys_are_changed_one_by_one(tmp_path: Path) -> None:
    made = folder.create(tmp_path, "maria")
    changed = folder.change(made.path, {"retrieval.recency": 0.5, "tags": ["tides"]})
    assert changed == folder.load(made.path)
    assert changed.config.retrieval.recency == 0.5
    assert changed.config.retrieval.max_chunks == 12
    before = made.config_path.read_bytes()
    for wrong in ({"retrieval.recency": 5}, {"retrieval.nothing": 1}):
        with pytest.raises(PersonaConfigError):
            folder.change(made.path, wrong)
    with pytest.raises(UsageError, match="folder's name"):
        folder.change(made.path, {"slug": "tom"})
    assert made.config_path.read_bytes() == before
