"""Other names for the same thing, as documents give them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.steps import assert_in_proportion

from chapterhouse.text.aliases import find_aliases, fold_name, fold_words, names_in, names_of
from chapterhouse.types import AliasKind

ABBREVIATION, KNOWN_AS, KEY_TERM = AliasKind


def names(text: str, title: str = "The Harbour Handbook") -> list[tuple[str, str, AliasKind]]:
    return [(alias.name, alias.other, alias.kind) for alias in find_aliases(title, text)]


@pytest.mark.parametrize(
    ("text", "short", "long"),
    [
        ("The World Health Organization (WHO) said", "WHO", "World Health Organization"),
        ("The World Health\nOrganization (WHO) said", "WHO", "World Health Organization"),
        ("the Bank of England (BoE)", "BoE", "Bank of England"),
        ("randomised controlled trials (RCTs)", "RCT", "randomised controlled trials"),
        ("U.S. Food and Drug Administration (FDA)", "FDA", "Food and Drug Administration"),
        ("die GmbH (Gesellschaft mit beschränkter Haftung)", "GmbH",
         "Gesellschaft mit beschränkter Haftung"),
        ("ÖPNV (Öffentlicher Personennahverkehr)", "ÖPNV", "Öffentlicher Personennahverkehr"),
        ("die Straße der Allgemeinen Geschäftsbedingungen (AGB)", "AGB",
         "Allgemeinen Geschäftsbedingungen"),  # ß folds to two letters
        ("l'Organisation mondiale de la santé (OMS)", "OMS", "Organisation mondiale de la santé"),
        ("Организация Объединённых Наций (ООН)", "ООН", "Организация Объединённых Наций"),
        ("nested (Harbour Board (HB))", "HB", "Harbour Board"),
        ("5-hydroxytryptamine (5-HT)", "5-HT", "5-hydroxytryptamine"),
    ],
)  # fmt: skip
def test_abbreviations_are_found(text: str, short: str, long: str) -> None:
    assert names(text) == [(short, long, ABBREVIATION)]


@pytest.mark.parametrize(
    "text",
    [
        "as was shown (2003) and (Smith 2003) and (Smith et al., 2003; Lee, 2004)",
        "in the USA (see 3) and (see Table 2A)",
        "def harbour_gate(HG):",
        "the gate (open) of the chapter (IV)",
        "first line\n\nanother (WHO)",
        "- fares of things\n- board items (FBI)",
        "World Health. Organization (WHO)",  # two statements
        "the X (a very long remark about Xylophones that goes on and on and on until it ends)",
        "(WHO)",
        "WHO (",
    ],
)
def test_other_brackets_are_no_abbreviations(text: str) -> None:
    assert names(text) == []


@pytest.mark.parametrize(
    ("text", "name", "other"),
    [
        ("The Big Dog, also known as Rex, barked", "Big Dog", "Rex"),
        ("Doctors know that aspirin (also known as acetylsalicylic acid) helps", "aspirin",
         "acetylsalicylic acid"),
        ("gaze tracking, aka eye tracking.", "gaze tracking", "eye tracking"),
        ("**Eye Tracking**, a.k.a. *Gaze Capture*, is", "Eye Tracking", "Gaze Capture"),
        ("Twitter (formerly The Bird Site) was", "Twitter", "Bird Site"),
        ("X Corp (früher Twitter)", "X Corp", "Twitter"),
        ("Die Bahn ist auch bekannt als DB Fern.", "Bahn", "DB Fern"),
    ],
)  # fmt: skip
def test_other_names_are_found(text: str, name: str, other: str) -> None:
    assert names(text) == [(name, other, KNOWN_AS)]


@pytest.mark.parametrize(
    "text",
    [
        "it is also known as Rex", "which is also known as Rex",
        "He was formerly the president of France.", "Die Fähre fährt früher ab",
        "Der Kapitän kam früher Heim", "also known as", "is also known as the",
        "the cargo of a great many old ships sailing, also known as a lot of really old wood here",
        "Big Dog, also known as\n\n",
    ],
)  # fmt: skip
def test_prose_gives_no_names(text: str) -> None:
    assert names(text) == []


def test_listed_names_are_other_names_of_the_title() -> None:
    title = "The Harbour Handbook"
    listed = [
        ("Quay Guide", title, KNOWN_AS), ("Blue Book", title, KNOWN_AS),
        ("berth", title, KEY_TERM), ("mooring", title, KEY_TERM),
    ]  # fmt: skip
    text = "# Harbour\n\n**Also known as:** Quay Guide; Blue Book\nKey terms: berth, mooring\n"
    assert names(text) == listed
    assert names(text, title="") == []
    head = '---\naliases: [Quay Guide, "Blue Book"]\nkey_terms:\n  - berth\n  - mooring\n'
    assert names(head + "---\n\nText.\n") == listed


def test_few_names_are_taken_each_once_and_compared_folded() -> None:
    assert names("keywords: berth, mooring\n") == []  # prose
    assert len(names("World Health Organization (WHO). " * 3)) == 1
    assert len(find_aliases("Title", "aliases: " + "a1;" * 100_000)) < 2_000
    assert fold_name(" World  Health\tORGANIZATION ") == "world health organization"
    assert fold_words("  God's Gift — ＴＯ Women! ") == "god s gift to women"


@given(
    st.text(
        alphabet=st.sampled_from("aAßÉ1 \n\t(),.;:|-*'’\"&/й人also known as formerly aka"),
        max_size=200,
    )
)
def test_any_text_gives_names_that_make_sense(text: str) -> None:
    for name, other, kind in names(text):
        for each in (name, other):
            assert 1 < len(each) <= 80
            assert each == each.strip()
            assert "\n" not in each
        assert fold_name(name) != fold_name(other)
        assert kind is not ABBREVIATION or all(
            letter in other.casefold()
            for letter in name.removesuffix("s").casefold()
            if letter.isalnum()
        )


@pytest.mark.parametrize(
    "unit",
    ["(", " (", "a", "a-", "ab ", " ", "*", "a.k.a. ", "also known as ", "A B (AB) ", "(A", "\n- ",
     "a (formerly ", "aliases: ", ";", 'also known as "'],
)  # fmt: skip
def test_a_long_text_of_anything_takes_work_in_proportion(unit: str) -> None:
    assert_in_proportion(lambda text: find_aliases("Title", text), unit, 5_000)


@pytest.mark.parametrize(
    ("title", "source", "others", "names"),
    [
        ("Dark River (2017 film)", "films/7.txt", (), ("dark river 2017 film", "dark river")),
        ("Refunds", "site/refund-policy.md", (), ("refunds", "refund policy md", "refund policy")),
        ("Who we are", "a.md", ("Harbour Office",), ("who we are", "a md", "harbour office")),
        ("It", "1.txt", (), ("1 txt",)),
        ("one two three four five six seven eight nine", "2019", (), ()),
    ],
)
def test_a_document_goes_by_title_file_and_other_names(
    title: str, source: str, others: tuple[str, ...], names: tuple[str, ...]
) -> None:
    assert set(names_of(title, source, others)) >= set(names)
    assert all(len(name) > 1 for name in names_of(title, source, others))


def test_names_are_found_in_text() -> None:
    for text, mentioned in (
        ("A film directed by Robert A. Stemmle and starring others.", "robert a stemmle"),
        ("It is set out in the Master  Services\nAgreement below.", "master services agreement"),
        ("see refund-policy.md for more", "refund policy md"),
        ("كتاب عن تاريخ المدينة القديمة", "تاريخ المدينة القديمة"),
        ("THE RULES OF THE HARBOUR APPLY", "rules of the harbour"),
    ):
        assert mentioned in names_in(text)
    assert names_in("no refund policy here at all") == ()  # no capital begins a name
