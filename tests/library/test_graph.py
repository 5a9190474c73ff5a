"""Who and what the documents speak of, as a library tells it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from chapterhouse import Library
from chapterhouse.errors import NotFoundError, RefusedError, UsageError
from chapterhouse.presenting.graph_files import is_ours, writer
from chapterhouse.types import Scope

NOTES = """# Notes

Ingrid Tolle met Marcus Webb in Kiel. The Baltic Ferry Company hired Marcus Webb in 2021.

Ingrid Tolle moved to Hamburg.
"""
SECRET = "# Secret\n\nMarcus Webb met Helena Brandt in Rostock. Marcus Webb left.\n"
GERMAN = "# Satzung\n\nDie Mitgliederversammlung wählte Ingrid Tolle zur Vorsitzenden in Kiel.\n"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with Library.open(tmp_path_factory.mktemp("graph") / "home") as opened:
        opened.documents.add_bytes(NOTES.encode(), "notes.md", shelf="open")
        opened.documents.add_bytes(SECRET.encode(), "secret.md", shelf="shut")
        opened.documents.add_bytes(GERMAN.encode(), "satzung.md", shelf="open")
        yield opened


def test_each_sentence_is_the_one_of_its_document(library: Library) -> None:
    found = library.graph.show("ingrid TOLLE")
    assert found.entity.name == "Ingrid Tolle"
    assert found.entity.kind == "person"
    assert [one.text for one in found.sentences] == [
        "Ingrid Tolle met Marcus Webb in Kiel.", "Ingrid Tolle moved to Hamburg.",
    ]  # fmt: skip
    for one in found.sentences:
        body = library.documents.body(one.document_id)
        assert body.text[one.start : one.end] == one.text
    assert "Marcus Webb" in {one.entity.name for one in found.related}
    assert all(found.entity.name in one.evidence.text for one in found.related)
    assert library.graph.show("webb").entity.name == "Marcus Webb"


def test_sentences_of_several_related_names_are_told_once(library: Library) -> None:
    found = library.graph.show("Ingrid Tolle")
    groups = found.related_by_sentence
    assert [one for group in groups for one in group if one not in found.related] == []
    assert sum(map(len, groups)) == len(found.related)
    sentences = [group[0].evidence for group in groups]
    assert len(set(sentences)) == len(sentences)
    assert {"Marcus Webb", "Kiel"} in [{one.entity.name for one in group} for group in groups]


def test_words_that_are_no_name_are_said_to_stand_in_documents(library: Library) -> None:
    with pytest.raises(NotFoundError, match=r"^2 documents have 'met', which was not") as raised:
        library.graph.show("met")
    assert "search '\"met\"'" in str(raised.value.hint)
    part = library.within(Scope.of(["open"]))
    with pytest.raises(NotFoundError, match=r"^1 document has 'met'"):
        part.graph.show("met")
    with pytest.raises(NotFoundError, match=r"^No document names 'moved Hamburg'"):
        library.graph.show("moved Hamburg")


def test_a_way_has_a_sentence_for_each_step(library: Library) -> None:
    way = library.graph.path("Ingrid Tolle", "Helena Brandt")
    assert [step.entity.name for step in way.steps] == ["Marcus Webb", "Helena Brandt"]
    assert "Marcus Webb" in way.steps[0].evidence.text
    assert "Helena Brandt" in way.steps[1].evidence.text


def test_what_cannot_be_shown_is_said(library: Library) -> None:
    for name, kind in (("Nobody Atall", NotFoundError), (" ", UsageError), ("...", NotFoundError)):
        with pytest.raises(kind):
            library.graph.show(name)
    with pytest.raises(UsageError, match="no kind"):
        library.graph.entities(kind="ship")
    with pytest.raises(UsageError, match="first on"):
        library.graph.entities(limit=0)
    with pytest.raises(NotFoundError) as raised:
        library.graph.show("ar")
    assert "Marcus Webb" in str(raised.value.hint)


def test_who_sees_a_part_sees_no_name_of_the_rest(library: Library) -> None:
    part = library.within(Scope.of(["open"]))
    names = {one.name for one in part.graph.entities().entities}
    assert "Marcus Webb" in names
    assert not names & {"Helena Brandt", "Rostock"}
    assert part.graph.show("Marcus Webb").entity.documents == 1
    assert library.graph.show("Marcus Webb").entity.documents == 2
    with pytest.raises(NotFoundError):
        part.graph.path("Ingrid Tolle", "Helena Brandt")
    with pytest.raises(RefusedError):
        part._runtime.graph.size()


@pytest.mark.parametrize("form", ["graphml", "jsonld", "cypher"])
def test_files_hold_every_entity_and_link(library: Library, form: str) -> None:
    entities = library.graph.entities().entities
    links = library.graph.links(entities)
    assert links
    text = writer(form)(entities, links)
    assert is_ours(text.encode())
    assert all(one.name in text for one in entities)
    if form == "graphml":
        tree = ET.fromstring(text)
        assert len(tree.findall(".//{*}node")) == len(entities)
        assert len(tree.findall(".//{*}edge")) == len(links)
    if form == "jsonld":
        graph: Any = json.loads(text)["@graph"]
        assert sum(
            len(own) for one in graph for own in one.values() if own and isinstance(own[0], dict)
        ) == len(links)


def test_a_removed_document_takes_its_names_with_it_also_from_the_disk(tmp_path: Path) -> None:
    with Library.open(tmp_path / "home") as library:
        library.documents.add_bytes(NOTES.encode(), "notes.md")
        library.documents.add_bytes(SECRET.encode(), "secret.md")
        assert library.graph.show("Helena Brandt").sentences
        removal = library.documents.remove("secret.md")
        assert removal.state == "removed"
        with pytest.raises(NotFoundError):
            library.graph.show("Helena Brandt")
        files = [path for path in (tmp_path / "home").rglob("*") if path.is_file()]
        assert not [path for path in files if b"Helena Brandt" in path.read_bytes()]
        assert library.graph.show("Marcus Webb").entity.documents == 1
        assert not library.faults()


DRAFT = """# Draft

Ingrid Tolle founded the Baltic Ferry Company in Kiel, Germany.
Helena Brandt, a politician from Rostock, left.

The Harbour Traffic Authority (HTA) met. Ingrid Tolle met the HTA.
"""


def relations(library: Library, name: str) -> list[tuple[str, str, bool]]:
    every = library.graph.show(name).related
    return [(one.relation, one.entity.name, one.inverse) for one in every if one.words]


def test_what_is_said_is_shown_with_its_sentence_and_documents(tmp_path: Path) -> None:
    with Library.open(tmp_path / "home") as library:
        library.documents.add_bytes(DRAFT.encode(), "draft.md", shelf="open")
        assert relations(library, "ingrid tolle") == [("created_by", "Baltic Ferry Company", True)]
        found = library.graph.show("kiel")
        assert [(one.title, one.sentences) for one in found.documents] == [("Draft", 1)]
        (part,) = (one for one in found.related if one.entity.name == "Germany")
        assert part.words == "is part of"
        assert part.evidence.text.endswith("in Kiel, Germany.")
        step = library.graph.path("Ingrid Tolle", "Baltic Ferry Company").steps[0]
        assert step.words == "created"
        entities = library.graph.entities().entities
        links = library.graph.links(entities)
        assert "[:CREATED_BY " in writer("cypher")(entities, links)
        assert '"isPartOf": [' in writer("jsonld")(entities, links)
        tree = ET.fromstring(writer("graphml")(entities, links))
        kinds = [one.text for one in tree.findall(".//{*}data[@key='edge-relation']")]
        assert {"created_by", "is_part_of", "related_to"} <= set(kinds)
        assert len(kinds) == len(links)


PLAN = b"""---
title: Harbour Plan
author: Ingrid Tolle
---

# Harbour Plan

Ferries sail at noon.
"""
MESSAGE = (
    b"Subject: Night ferry\nFrom: Marcus Webb <m@example.org>\nTo: i@example.org\n\nIt sails.\n"
)


def test_who_wrote_a_document_is_what_its_first_lines_say(tmp_path: Path) -> None:
    with Library.open(tmp_path / "home") as library:
        library.documents.add_bytes(PLAN, "plan.md")
        library.documents.add_bytes(MESSAGE, "night.eml")
        assert relations(library, "harbour plan") == [("created_by", "Ingrid Tolle", False)]
        assert relations(library, "night ferry") == [("created_by", "Marcus Webb", False)]
        (said,) = (one for one in library.graph.show("Marcus Webb").related if one.words)
        assert said.evidence.text.startswith("From: Marcus Webb")
        runtime = library._runtime
        assert not runtime.graph.differing(runtime.store, thorough=True)


def test_what_a_person_says_of_names_holds_and_can_be_taken_back(tmp_path: Path) -> None:
    with Library.open(tmp_path / "home") as library:
        library.documents.add_bytes(DRAFT.encode(), "draft.md", shelf="open")
        library.documents.add_bytes(NOTES.encode(), "notes.md", shelf="shut")
        graph = library.graph
        assert graph.show("HTA").entity.name == "Harbour Traffic Authority"
        (apart,) = graph.split("HTA", "me")
        assert (apart.name, apart.entity, apart.decided_by) == ("hta", "hta", "me")
        assert graph.show("HTA").entity.sentences == 2
        with pytest.raises(UsageError, match="no other name"):
            graph.split("HTA", "me")
        (same,) = graph.merge("Helena Brandt", "Marcus Webb", "me")
        assert (same.name, same.entity) == ("helena brandt", "marcus webb")
        merged = graph.show("Helena Brandt").entity
        assert merged.name == "Marcus Webb"
        assert [(one.name, one.reason) for one in merged.merged] == [("Helena Brandt", "by hand")]
        with pytest.raises(UsageError, match="one entity already"):
            graph.merge("Helena Brandt", "Marcus Webb", "me")
        part = library.within(Scope.of(["open"]))
        # Who does not see Marcus Webb does not learn of him.
        assert part.graph.show("Helena Brandt").entity.name == "Helena Brandt"
        with pytest.raises(RefusedError):
            part.graph.merge("Kiel", "Germany", "me")
        with pytest.raises(RefusedError):
            part.graph.split("Kiel", "me")
        with pytest.raises(RefusedError):
            part.graph.undo("HTA")
        with pytest.raises(RefusedError):
            part.graph.decisions()
        library.reindex()
        assert [(one.name, one.entity) for one in graph.decisions()] == [
            ("helena brandt", "marcus webb"), ("hta", "hta"),
        ]  # fmt: skip
        assert graph.show("Helena Brandt").entity.name == "Marcus Webb"
        library.export(tmp_path / "copy.zip")
    Library.restore(tmp_path / "copy.zip", tmp_path / "other")
    with Library.open(tmp_path / "other") as library:
        assert library.graph.show("Helena Brandt").entity.name == "Marcus Webb"
        assert [one.name for one in library.graph.undo("Marcus Webb")] == ["helena brandt"]
        assert [one.name for one in library.graph.undo("HTA")] == ["hta"]
        assert library.graph.show("Helena Brandt").entity.name == "Helena Brandt"
        assert library.graph.show("HTA").entity.name == "Harbour Traffic Authority"
        with pytest.raises(NotFoundError, match="Nobody decided"):
            library.graph.undo("HTA")
        (apart,) = library.graph.split("Harbour Traffic Authority", "me")
        assert apart.name == "hta"
