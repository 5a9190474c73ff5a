"""Which ways to write a name are one entity."""

import re

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
    ("text", "name", "means"),
    [
        ('Seelog Ltd ("SLG") met. SLG left.', "SLG", "seelog ltd"),
        ("The Seelog Line (“TSL”) met.", "TSL", "seelog line"),
        ("Die Seelog Reederei GmbH (kurz „Seelog“) kam. Seelog ging.", "Seelog",
         "seelog reederei gmbh"),
        ('Seelog Line (the "Company") pays. The Company leaves.', "Company", "seelog line|company"),
        ("Seelog GmbH, mit Sitz in Kiel (nachfolgend „Auftraggeber“ genannt), zahlt.",
         "Auftraggeber", "seelog gmbh|auftraggeber"),
        ("Seelog SA (ci-après « le Prestataire ») paie.", "Prestataire", "seelog sa|prestataire"),
        ("Seelog SL (en adelante, el «Proveedor») paga.", "Proveedor", "seelog sl|proveedor"),
        ('Seelog SpA (di seguito "il Fornitore") paga.', "Fornitore", "seelog spa|fornitore"),
        ("between Lindt Ltd and Seelog Ltd (“Recipient”)", "Recipient", "seelog ltd|recipient"),
        ("Lindt Ltd, Seelog Ltd (“Recipient”)", "Recipient", "recipient"),
        ('one party, Seelog Ltd, or the other party (the "Company")', "Company", "company"),
        ('the Seelog Agreement (the "Agreement")', "Agreement", "agreement"),
    ],
)  # fmt: skip
def test_what_a_document_calls_a_name_in_quotation_marks(text: str, name: str, means: str) -> None:
    every = ("Lindt Ltd", "Seelog Reederei GmbH", "Seelog Line", "Seelog GmbH", "Seelog SpA")
    known = [one for one in (*every, "Seelog Ltd", "Seelog SA", "Seelog SL") if one in text]
    known += [name] if name != "SLG" else []  # a short name is found without the head
    found = re.finditer("|".join(known), text)
    mentions = [Mention(one.start(), one.end(), COMPANY, 0.9) for one in found]
    own = name_entities("", text, [(0, len(text))], mentions)
    keys = {one.entity: one.mention for one in own.mentions if one.name == name}
    shared = {one.short: one.long for one in own.shared}
    assert {shared.get(key, key) for key in keys} == {means}
    is_term = {one.likelihood == 0 for one in keys.values()}
    assert is_term == {means == name.casefold()}


def test_terms_and_words_without_a_capital_are_no_names() -> None:
    text = (
        "“Confidential Information” means a secret of Kiel. The Confidential Information of"
        " Lindt’s Parcel Service is a parcel. Its Parcel came. GitHub runs github."
    )
    every = re.finditer("Confidential Information|Kiel|Lindt’s Parcel Service|Parcel|GitHub", text)
    mentions = [Mention(one.start(), one.end(), COMPANY, 0.9) for one in every]
    found = name_entities("", text, [(0, len(text))], mentions).mentions
    assert {one.name for one in found if not one.mention.likelihood} == {
        "Confidential Information", "Parcel",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("whole", "short", "same"),
    [
        ("Petra Holm", "Petra", True),
        ("Ben Holm", "Ben", True),
        ("Henry of Navarre", "Henry", False),
        ("Philip II", "Philip", False),
        ("Petra Holm", "Princess Petra", False),
    ],
)
def test_a_first_name_is_the_one_person_of_the_document(
    whole: str, short: str, *, same: bool
) -> None:
    text = f"{whole} came with Ida Storm. Then {short} left."
    *_, last = keys(text, whole, "Ida Storm", short)
    assert last == (entity_key(f"{whole}") + f"|{entity_key(short)}" if same else entity_key(short))
    assert (
        keys("Petra Holm met Petra Storm. Petra left.", "Petra Holm", "Petra Storm", "Petra")[-1]
        == "petra"
    )


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
