import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.answering.bundle import quotes
from chapterhouse.answering.cite import cite, text_hash, verify
from chapterhouse.answering.parts import Part, render_part
from chapterhouse.answering.parts import part_of as make_part
from chapterhouse.retrieval.sentences import split_hits
from chapterhouse.text.canonical import compose
from chapterhouse.text.sanitise import inert
from chapterhouse.types import (
    Body,
    Chunk,
    Document,
    ExtractedPage,
    Extraction,
    Hit,
    Kind,
    Quotation,
    Range,
)

PAGE = """# Handbook

## Leave

Employees need the approval of their manager. They ask for it in writing.

You need three things for a visa:

- a passport
- a photograph of
  yourself
- forty euros

To install it:

    pip install tool
    tool setup

The command is:

```sh
tool run --all
```

The rule is simple: nobody leaves early.

**Opening hours**

The office opens at nine.

| Day | Opens | Closes |
| --- | --- | --- |
| Monday | 9:00 | 17:00 |
| Friday | 9:00 | 13:00 |

1. Turn it off.
2. Wait a minute.
3. Turn it on.
"""


def hit(text: str, span: Range | None = None, kind: Kind = Kind.PROSE) -> Hit:
    start, end = span or (0, len(text))
    document = Document("d", "d.md", "/d.md", "D", "md", "test", "", text_hash(text), 1, 0,
                        language="en")  # fmt: skip
    return Hit(1, 1.0, Chunk("d", 0, start, end, text[start:end], kind), document)


def part_of(core: str, room: int = 100, text: str = PAGE) -> Part | None:
    start = text.index(core)
    return make_part(text, hit(text), (start, start + len(core)), room)


def shown(core: str, room: int = 100, text: str = PAGE) -> str:
    part = part_of(core, room, text)
    return part.text(text) if part else ""


def counts(core: str, room: int = 100, text: str = PAGE) -> Range:
    part = part_of(core, room, text)
    assert part
    return part.shown


def test_a_sentence_may_stand_alone_and_an_item_comes_with_what_leads_in_to_it() -> None:
    assert shown("Employees need the approval of their manager.") == (
        "Employees need the approval of their manager."
    )
    assert shown("- forty euros") == "You need three things for a visa:\n- forty euros"
    assert counts("- forty euros") == (1, 3)
    assert shown("- a passport") == "You need three things for a visa:\n- a passport"


def test_a_lead_in_comes_with_its_list_code_or_sentence() -> None:
    lead = "You need three things for a visa:"
    assert shown(lead).endswith("visa:\n- a passport\n- a photograph of yourself\n- forty euros")
    assert counts(lead) == (0, 0)
    assert counts(lead, 16) == (2, 3)
    assert counts(lead, 1) == (1, 3)
    assert "pip install tool" in shown("To install it:")
    assert "tool run --all" in shown("The command is:")


def test_a_table_comes_behind_what_leads_in_to_it() -> None:
    rows = "".join(f"| day {n} | {n}:00 | late at night |\n" for n in range(40))
    text = f"The office opens:\n\n| Day | Opens | Closes |\n| --- | --- | --- |\n{rows}\nEnd.\n"
    assert shown("The office opens:", text=text).splitlines()[:3] == [
        "The office opens:",
        "Day · Opens · Closes",
        "day 0 · 0:00 · late at night",
    ]
    count, every = counts("The office opens:", text=text)
    assert 10 <= count < every == 40
    assert "---" not in shown("The office opens:", text=text)


def test_an_item_that_leads_in_comes_with_the_next() -> None:
    text = "- For guests:\n  - a passport\n  - a fee\n- For members:\n  - nothing\n"
    assert shown("- For members:", text=text) == "- For members:\n- nothing"
    within = "a. A fee.\nb. The scope means:\ni. the first thing;\nii. the second thing.\n"
    assert shown("b. The scope means:", text=within).endswith("first thing;\nii. the second thing.")


def test_a_list_never_ends_with_an_item_that_leads_in_to_what_is_not_shown() -> None:
    text = "It says:\n1. Pay in time.\n2. Tell us of these:\n(a) a fire;\n(b) a flood.\n"
    assert shown("It says:", 12, text) == "It says:\n1. Pay in time."
    assert counts("It says:", 12, text) == (1, 4)
    assert part_of("It says:", 6, "It says:\n1. Tell us of these:\n(a) fires.\n") is None


def test_a_hostile_list_is_no_deep_recursion() -> None:
    text = "- a\n" + "\tb\n" * 5_000
    assert part_of(text.strip(), text=text)


def test_what_says_nothing_is_no_part() -> None:
    for text in (
        "It leads in to nothing:", "Opening hours by month", "Clause 3", "When does it open?",
        "By: J. Smith", "Name: ______ Title: ______", "/s/ J. Smith", "[12][13]", "* * *",
        "![A berth at low tide](berth.png)", "## Leave", "**Opening hours**",
    ):  # fmt: skip
        assert part_of(text, text=f"{text}\n") is None, text
    credit = "AGENCY/J. Smith"
    assert part_of(credit, text=f"The harbour was closed on Monday. {credit}\n") is None
    for text in ("Deadline: 3 May", "Room 4 holds 12 people at most", "Fee: none"):
        assert shown(text, text=f"{text}\n") == text


def test_code_comes_with_what_leads_in_to_it() -> None:
    assert shown("tool setup").startswith("To install it:")
    assert shown("tool setup").endswith("tool setup")


def test_a_row_is_its_own_part() -> None:
    row = "| Friday | 9:00 | 13:00 |"
    assert shown(row) == "Friday · 9:00 · 13:00"
    header = "| Day | Opens | Closes |"
    assert render_part(row, "md", header) == "Day: Friday · Opens: 9:00 · Closes: 13:00"
    assert render_part(row, "md", header, frozenset({2})) == "Day: Friday · Closes: 13:00"
    assert render_part(row, "md", header, frozenset({0})) == render_part(row, "md", header)
    assert render_part(row) == "Friday · 9:00 · 13:00"
    assert render_part("| Friday |  | 13:00 |", "md", header) == "Day: Friday · Closes: 13:00"


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("# A *title*", "A title"),
        ("> It is [so](http://a.example).", "It is so."),
        ("* one\n* two", "- one\n- two"),
        ("One line\nand another.", "One line and another."),
        ("One.\n\nTwo.", "One.\nTwo."),
        ("```sh\nrun\n```", "run"),
        ("    a = 1\n    b = 2", "    a = 1\n    b = 2"),
        ("", ""),
    ],
)
def test_a_quotation_is_shown_without_its_marks(quote: str, text: str) -> None:
    assert render_part(quote) == text


PIECES = st.sampled_from(
    [
        "Guests pay 40 euros a night. ", "They pay at the gate. ", "It is late! ", "\n", "\n\n",
        "# Prices\n\n", "**Bold title**\n\n", "- one item\n", "- another\n  goes on\n",
        "2. a step\n", "3) a step\n", "You need:\n\n", "For example: ", "    code(1)\n",
        "```\nx = 1\n```\n", "| a | b |\n| --- | --- |\n| 1 | 【2 |\n| 3 | 4】 |\n", "\n\n",
        "停泊费是四十欧元。", "这些费用包括：\n", "See [1] and [^a:b]. ", "A [link](http://a.example).\n",
        "Caption without an end\n", "> quoted *words*\n", "word " * 70, "Long lead " * 40 + ":\n",
    ]
)  # fmt: skip
TEXTS = st.lists(PIECES, min_size=1, max_size=14).map("".join).filter(str.strip)


def body_of(text: str) -> Body:
    return compose(Extraction((ExtractedPage(text),), "md", "test"))[0]


@given(TEXTS, st.sampled_from([0, 1, 5, 40, 250]), st.data())
def test_a_part_holds_its_sentence_in_order(text: str, room: int, data: st.DataObject) -> None:
    text = body_of(text).text
    sentence = data.draw(st.sampled_from(split_hits([hit(text)])))
    core = sentence.begin, sentence.stop
    part = make_part(text, hit(text), core, room)
    if part is None:
        return
    assert 1 <= len(part.spans) <= 2
    assert all(0 <= start <= end <= len(text) for start, end in part.spans)
    flat = [place for span in part.spans for place in span]
    assert flat == sorted(flat)
    assert part.core == core
    assert any(start <= core[0] and core[1] <= end for start, end in part.spans)
    assert 0 <= part.shown[0] <= part.shown[1]


@given(TEXTS, st.sampled_from([0, 40]), st.frozensets(st.integers(0, 1)), st.data())
def test_what_is_shown_of_a_part_is_its_quotations(
    text: str, room: int, columns: frozenset[int], data: st.DataObject
) -> None:
    """So that a fresh bundle is never called bad."""
    body = body_of(text)
    one = hit(body.text)
    sentence = data.draw(st.sampled_from(split_hits([one])))
    part = make_part(body.text, one, (sentence.begin, sentence.stop), room)
    if part is None:
        return
    made = [
        verify(
            cite(one.document, Quotation("d", start, end, body.text[start:end]), number),
            one.document,
            body,
        )
        for number, (start, end) in enumerate(part.spans, start=1)
        if start < end
    ]
    header = sentence.header.split("\n", 1)[0]
    said = "\n".join(render_part(citation.quote, "md", header, columns) for citation in made)
    assert all(citation.verified for citation in made)
    if made and any(map(str.isalnum, said)):
        assert quotes(inert(said), made), (said, made)
        assert not quotes(inert(said) + " more", made)
