"""What sentences say of two names, and what they do not say."""

import re
import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.text.entity_names import name_entities
from chapterhouse.text.relations import find_fields, find_relations
from chapterhouse.types.graph import EntityKind, EntityNames, Mention

KINDS = {
    EntityKind.PERSON: ("Petra Holm", "Marcus Webb", "Ida Storm"),
    EntityKind.ORGANIZATION: ("Varnholm Ferries", "Baltic Group", "Harbour Council"),
    EntityKind.LOCATION: ("Kiel", "Germany", "Lübeck", "Hamburg"),
    EntityKind.CONCEPT: ("Tidewatch", "Postgres", "Seelog", "Windows", "North Song"),
}
NAMES = {name: kind for kind, names in KINDS.items() for name in names}


def named(text: str, language: str = "en") -> EntityNames:
    """Return what a text says of the names above."""
    found = re.finditer("|".join(NAMES), text)
    mentions = [Mention(one.start(), one.end(), NAMES[one.group()], 0.9) for one in found]
    return name_entities("", text, [(0, len(text))], mentions, language)


def said(text: str, language: str = "en") -> list[tuple[str, str, str]]:
    relations = named(text, language).relations
    for one in relations:
        sentence = text[slice(*one.sentence)].casefold()
        assert one.source in sentence
        assert one.target in sentence
        assert 0 < one.confidence <= 0.9
    return [(one.source, one.type.value, one.target) for one in relations]


@pytest.mark.parametrize(
    ("text", "relation"),
    [
        ("Tidewatch is a part of Seelog.", "tidewatch is_part_of seelog"),
        ("Varnholm Ferries, a subsidiary of the Baltic Group, owns it.",
         "varnholm ferries is_part_of baltic group"),
        ("Kiel is a port city in northern Germany.", "kiel is_part_of germany"),
        ("She was born in Kiel, Germany, in 1970.", "kiel is_part_of germany"),
        ("Petra Holm, the CEO of Varnholm Ferries, said so.",
         "petra holm is_part_of varnholm ferries"),
        ("Yesterday Varnholm Ferries president Petra Holm left.",
         "petra holm is_part_of varnholm ferries"),
        ("Seelog comprises Tidewatch.", "tidewatch is_part_of seelog"),
        ("Tidewatch now uses Postgres.", "tidewatch uses postgres"),
        ("Tidewatch (a service) is written in **Postgres**.", "tidewatch uses postgres"),
        ("Tidewatch was founded in 1999 by the engineer Petra Holm.",
         "tidewatch created_by petra holm"),
        ("North Song is a novel by the German writer Ida Storm.",
         "north song created_by ida storm"),
        ("North Song, written by Ida Storm, is long.", "north song created_by ida storm"),
        ("Petra Holm founded the company Varnholm Ferries.",
         "varnholm ferries created_by petra holm"),
        ("Petra Holm, founder of Varnholm Ferries, left.",
         "varnholm ferries created_by petra holm"),
        ("Tidewatch depends on Postgres.", "tidewatch depends_on postgres"),
        ("Tidewatch also requires the database Postgres.", "tidewatch depends_on postgres"),
        ("Tidewatch is an open alternative to Seelog.", "tidewatch alternative_to seelog"),
        ("Seelog was replaced by Tidewatch.", "seelog alternative_to tidewatch"),
        ("Tidewatch improves on Seelog.", "tidewatch improves seelog"),
        ("Tidewatch is an improved version of Seelog.", "tidewatch improves seelog"),
    ],
)  # fmt: skip
def test_what_a_sentence_says_is_a_relation(text: str, relation: str) -> None:
    assert [" ".join(one) for one in said(text)] == [relation]


@pytest.mark.parametrize(
    "text",
    [
        "Tidewatch does not use Postgres.",
        "Tidewatch may depend on Postgres.",
        "Tidewatch never uses Postgres.",
        "If Tidewatch uses Postgres, it is slow.",
        "Is it said that Tidewatch uses Postgres?",
        "It should be that Tidewatch depends on Postgres.",
        "Neither Tidewatch depends on Postgres nor on Seelog.",
        "Tidewatch is not a part of Seelog.",
        "Tidewatch isn't a part of Seelog.",
        "Tidewatch was not founded by Petra Holm.",
        "Tidewatch uses the Windows version.",
        "Tidewatch requires Postgres to be asleep.",
        "The author of Tidewatch was founded by Petra Holm.",
        "They sail to Kiel, Hamburg and Lübeck.",
        "They sail to Kiel, Hamburg, Lübeck.",
        "Petra Holm founded a school in Kiel.",
        "Tidewatch met Seelog. Postgres uses it.",
        "Tidewatch\n\n- uses\n- Postgres",
    ],
)
def test_what_it_does_not_say_is_none(text: str) -> None:
    assert said(text) == []


def test_what_holds_of_one_holds_of_those_beside_it() -> None:
    assert said("Tidewatch was founded by Petra Holm, Ida Storm and Marcus Webb in Kiel.") == [
        ("tidewatch", "created_by", name) for name in ("petra holm", "ida storm", "marcus webb")
    ]
    assert said("Tidewatch uses Postgres and Seelog.") == [
        ("tidewatch", "uses", "postgres"),
        ("tidewatch", "uses", "seelog"),
    ]


@pytest.mark.parametrize(
    ("language", "text", "relation"),
    [
        ("de", "Tidewatch gehört zu Seelog.", "tidewatch is_part_of seelog"),
        ("de", "Tidewatch wurde 1999 von Petra Holm gegründet.", "tidewatch created_by petra holm"),
        ("de", "Tidewatch hängt von Postgres ab.", "tidewatch depends_on postgres"),
        ("de", "Tidewatch hängt nicht von Postgres ab.", ""),
        ("de", "Tidewatch verwendet Postgres.", "tidewatch uses postgres"),
        ("fr", "Tidewatch fait partie de Seelog.", "tidewatch is_part_of seelog"),
        ("fr", "Tidewatch a été fondée en 1999 par Petra Holm.", "tidewatch created_by petra holm"),
        ("fr", "Tidewatch n'utilise pas Postgres.", ""),
        ("fr", "Tidewatch dépend de Postgres.", "tidewatch depends_on postgres"),
        ("nl", "Tidewatch uses Postgres.", ""),
        (
            "de",
            "Petra Holm, Gründerin der Varnholm Ferries, kam.",
            "varnholm ferries created_by petra holm",
        ),
        (
            "de",
            "Petra Holm gründete 1999 die Varnholm Ferries.",
            "varnholm ferries created_by petra holm",
        ),
        ("de", "Tidewatch ist in Postgres geschrieben.", "tidewatch uses postgres"),
        (
            "de",
            "Petra Holm ist Geschäftsführerin der Varnholm Ferries.",
            "petra holm is_part_of varnholm ferries",
        ),
        ("de", "Tidewatch ist kein Teil von Seelog.", ""),
        ("fr", "Ida Storm a écrit North Song.", "north song created_by ida storm"),
        ("fr", "North Song est un roman d'Ida Storm.", "north song created_by ida storm"),
        ("fr", "Petra Holm a fondé avec Varnholm Ferries une école.", ""),
        (
            "es",
            "Varnholm Ferries fue fundada en 1999 por Petra Holm.",
            "varnholm ferries created_by petra holm",
        ),
        (
            "es",
            "Petra Holm, directora de Varnholm Ferries, habló.",
            "petra holm is_part_of varnholm ferries",
        ),
        ("es", "Tidewatch depende de Postgres.", "tidewatch depends_on postgres"),
        ("es", "Tidewatch no depende de Postgres.", ""),
        ("es", "Tidewatch forma parte del Seelog.", "tidewatch is_part_of seelog"),
        ("it", "Tidewatch fa parte di Seelog.", "tidewatch is_part_of seelog"),
        ("it", "North Song è stata scritta da Ida Storm.", "north song created_by ida storm"),
        ("it", "Tidewatch usa Postgres e Seelog.", "tidewatch uses postgrestidewatch uses seelog"),
        ("it", "Tidewatch non usa Postgres.", ""),
        (
            "it",
            "Petra Holm, fondatrice della Varnholm Ferries, parlò.",
            "varnholm ferries created_by petra holm",
        ),
    ],
)
def test_other_languages_have_patterns_of_their_own(
    language: str, text: str, relation: str
) -> None:
    assert "".join(" ".join(one) for one in said(text, language)) == relation


def test_a_column_says_what_its_cells_are_to_the_first_of_their_row() -> None:
    text = (
        "| Program | Depends on | Seen with |\n|---|---|---|\n"
        "| Tidewatch | Postgres, Seelog | Windows |\n| Seelog | none | Postgres |\n"
    )
    assert said(text) == [
        ("tidewatch", "depends_on", "postgres"),
        ("tidewatch", "depends_on", "seelog"),
    ]


FRONT = """---
title: Harbour Plan
author: Ingrid Tolle, O'Brien Lee and Baltic Group GmbH
depends_on:
  - Tide Tables
uses: [Postgres, C++]
tags: [sea, wind]
---

# Harbour Plan

Ferries sail.
"""
MAIL = """# Re: Night ferry

From: "Ingrid Tolle" <it@example.org>
To: Marcus Webb <mw@example.org>

Hello.
"""
STATED = (
    "created_by ingrid tolle|created_by o'brien lee|created_by baltic group gmbh"
    "|depends_on tide tables|uses postgres|uses c++"
)


@pytest.mark.parametrize(
    ("title", "text", "relations"),
    [
        ("Harbour Plan", FRONT, STATED),
        ("Re: Night ferry", MAIL, "created_by ingrid tolle"),
        ("Night ferry", MAIL.replace("Ingrid Tolle", "it@example.org"), ""),
        ("Other Plan", FRONT, ""),  # the text does not say that it is this title's
        ("Trip", "# Trip\n\nFrom: Kiel to Oslo.\n", ""),
    ],
)
def test_fields_say_what_a_title_is_to_others(title: str, text: str, relations: str) -> None:
    fields = find_fields(title, text)
    mentions = sorted((one for _, one in fields), key=lambda one: one.start)
    found = name_entities(title, text, [(0, len(text))], mentions, "en", fields)
    assert "|".join(f"{one.type} {one.target}" for one in found.relations) == relations
    for one in found.relations:
        assert one.source == title.casefold().removeprefix("re: ")
        assert one.target in text[slice(*one.sentence)].casefold()


WORDS = ["uses", "is a part of", "was founded by", "not", "the", ",", "and", ". ", "\n", "|", "may"]


@given(st.lists(st.sampled_from([*NAMES, *WORDS]), max_size=14).map(" ".join))
def test_both_names_stand_in_the_sentence_of_a_relation(text: str) -> None:
    own = named(text)
    assert own == named(text)
    for one in own.relations:
        inside = [each.entity for each in own.mentions if each.sentence == one.sentence]
        assert one.source in inside
        assert one.target in inside
        assert one.source != one.target
    assert all(a.sentence[0] <= b.sentence[0] for a, b in pairwise(own.mentions))
    assert find_relations(text, (), "en") == ()


def test_a_long_list_is_read_in_linear_time() -> None:
    text = " and ".join(f"Tidewatch {number} has very many old parts" for number in range(4_000))
    begun = time.process_time()
    assert said(text) == []
    assert time.process_time() - begun < 10
