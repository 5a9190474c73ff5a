"""Which ways to write a name are one entity."""

import pytest

from chapterhouse.text.entity_names import entity_key, merge_keys, name_entities, plain_key
from chapterhouse.types.graph import EntityKind, Mention

PERSON, COMPANY, THING = EntityKind.PERSON, EntityKind.ORGANIZATION, EntityKind.CONCEPT


def keys(text: str, *names: str) -> list[str]:
    """Return the keys of the people who are named so in a text, in order."""
    mentions, end = [], 0
    for name in names:
        start = text.index(name, end)
        end = start + len(name)
        mentions.append(Mention(start, end, PERSON, 0.9))
    return [one.entity for one in name_entities("", text, [(0, len(text))], mentions).mentions]


@pytest.mark.parametrize(
    ("whole", "short", "same"),
    [
        ("Petra Holm", "Holm", True),
        ("Petra Holm", "P. Holm", True),
        ("Petra Holm", "Dr. Petra Holm", True),
        ("Petra Maria Holm", "Petra Holm", True),
        ("Petra Maria Holm", "Petra M. Holm", True),
        ("Charles de Gaulle", "de Gaulle", True),
        ("Petra Holm", "Peter Holm", False),
        ("Petra Holm", "Petra Storm", False),
        ("Martin of Aragon", "Aragon", False),
        ("Princess Raiyah bint Hussein", "King Hussein", False),
        ("King Henry", "Henry", False),
    ],
)
def test_a_shorter_name_is_the_person_of_its_document(
    whole: str, short: str, *, same: bool
) -> None:
    first, other = keys(f"{whole} came. Then {short} left.", whole, short)
    assert (first.rpartition("|")[0] or first) == (other.rpartition("|")[0] or other) or not same
    assert ("|" in first or "|" in other) == same


@pytest.mark.parametrize(
    "text", ["Ann Holm met Petra Holm. {} left.", "Petra Maria Holm is the daughter of {}."]
)
def test_who_may_be_another_is_nobody_else(text: str) -> None:
    names = [name for name in ("Ann Holm", "Petra Maria Holm", "Petra Holm") if name in text]
    *_, last = keys(text.format("Holm"), *names, "Holm")
    assert last == "holm"


def test_keys_have_no_case_articles_or_possessives() -> None:
    assert entity_key("  the Seelog’s ") == entity_key("SEELOG") == "seelog"
    assert entity_key("C | B") == "c b"
    assert plain_key(entity_key("Müller & Söhne GmbH")) == "muller & sohne"


@pytest.mark.parametrize(
    ("kinds", "merged"),
    [
        ({"seelog": COMPANY, "seelog ltd": COMPANY}, {"seelog ltd": "seelog"}),
        ({"seelog ltd": COMPANY, "seelog limited": COMPANY}, {"seelog ltd": "seelog limited"}),
        ({"seelog": COMPANY, "seelog ltd": COMPANY, "seelog gmbh": COMPANY}, {}),
        ({"storm": PERSON, "storm ltd": COMPANY}, {}),
        ({"müller & co": COMPANY, "muller & co": COMPANY}, {"müller & co": "muller & co"}),
        ({"andré": PERSON, "andre": PERSON}, {}),
        ({"tide tables": THING, "tide table": THING}, {"tide tables": "tide table"}),
        ({"peter williams": PERSON, "peter william": PERSON}, {}),
        ({"dr. ida storm": PERSON, "ida storm": PERSON}, {"dr. ida storm": "ida storm"}),
        ({"king philip ii": PERSON, "philip ii": PERSON}, {}),
        ({"hta": COMPANY, "harbour authority": COMPANY}, {"hta": "harbour authority"}),
        ({"hta": PERSON, "harbour authority": COMPANY}, {}),
    ],
)
def test_keys_that_are_one_entity(kinds: dict[str, EntityKind], merged: dict[str, str]) -> None:
    found = merge_keys(kinds, {"hta": "harbour authority"}, {})
    assert {key: entity for key, (entity, _) in found.items()} == merged
