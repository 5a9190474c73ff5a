"""Whole parts of passages: what a sentence needs, and how it is shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.answering.checksum import quotes
from chapterhouse.answering.cite import cite, text_hash, verify
from chapterhouse.answering.parts import (
    Part,
    as_shown,
    is_self_contained,
    sentence_alone,
    whole_part,
)
from chapterhouse.retrieval.sentences import split_hits
from chapterhouse.text.canonical import compose
from chapterhouse.text.view import inert
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


def part_of(core: str, all_items: int = 0, text: str = PAGE) -> Part:
    start = text.index(core)
    return whole_part(text, hit(text), (start, start + len(core)), all_items)


def shown(core: str, all_items: int = 0) -> str:
    return part_of(core, all_items).text(PAGE)


def test_a_sentence_that_stands_alone_is_its_own_part() -> None:
    assert shown("Employees need the approval of their manager.") == (
        "Employees need the approval of their manager."
    )


def test_a_sentence_that_points_back_comes_with_the_one_before() -> None:
    assert shown("They ask for it in writing.") == (
        "Employees need the approval of their manager. They ask for it in writing."
    )


def test_an_item_comes_with_what_leads_in_to_it() -> None:
    part = part_of("- forty euros")
    assert part.text(PAGE) == "You need three things for a visa:\n- forty euros"
    assert part.shown == (1, 3)
    assert len(part.spans) == 2


def test_all_items_come_where_there_is_room() -> None:
    part = part_of("- forty euros", 40)
    assert part.shown == (3, 3)
    assert part.text(PAGE).endswith(
        "visa:\n- a passport\n- a photograph of yourself\n- forty euros"
    )
    assert part_of("- a passport", 8).shown == (2, 3)


def test_a_lead_in_comes_with_its_list_code_or_sentence() -> None:
    assert shown("You need three things for a visa:", 40).endswith("- forty euros")
    assert part_of("You need three things for a visa:").shown == (1, 3)
    assert "pip install tool" in shown("To install it:")
    assert "tool run --all" in shown("The command is:")


def test_a_table_comes_behind_what_leads_in_to_it() -> None:
    rows = "".join(f"| day {n} | {n}:00 | late at night |\n" for n in range(40))
    text = f"The office opens:\n\n| Day | Opens | Closes |\n| --- | --- | --- |\n{rows}\nEnd.\n"
    part = part_of("The office opens:", text=text)
    assert part.text(text).splitlines()[:3] == [
        "The office opens:",
        "Day · Opens · Closes",
        "day 0 · 0:00 · late at night",
    ]
    assert part.shown == (10, 40)
    assert "---" not in part.text(text)
    short = part_of("**Times**", text=f"**Times**\n\n{text[19:160]}")
    assert short.shown == (0, 0)


def test_items_that_go_on_in_the_next_line_are_of_one_list() -> None:
    text = "You need:\n- a passport that is\nvalid\n- a photograph\nof yourself\n\nThe end.\n"
    part = part_of("- a photograph\nof yourself", 40, text=text)
    assert part.shown == (2, 2)
    assert part.text(text) == "You need:\n- a passport that is valid\n- a photograph of yourself"


def test_an_item_that_leads_in_comes_with_the_next() -> None:
    text = "- For guests:\n  - a passport\n  - a fee\n- For members:\n  - nothing\n"
    part = part_of("- For members:", text=text)
    assert part.text(text) == "- For members:\n- nothing"
    assert part.shown == (2, 5)


def test_a_hostile_list_is_no_deep_recursion() -> None:
    text = "- a\n" + "\tb\n" * 5_000
    assert part_of(text.strip(), text=text).spans


def test_a_heading_comes_with_what_follows_it() -> None:
    assert shown("**Opening hours**").endswith("The office opens at nine.")
    assert shown("# Handbook").endswith("approval of their manager.")


def test_code_comes_with_what_leads_in_to_it() -> None:
    assert shown("tool setup").startswith("To install it:")
    assert shown("tool setup").endswith("tool setup")


def test_steps_keep_their_numbers() -> None:
    assert shown("2. Wait a minute.", 40).splitlines() == [
        "1. Turn it off.",
        "2. Wait a minute.",
        "3. Turn it on.",
    ]


def test_a_row_is_its_own_part() -> None:
    row = "| Friday | 9:00 | 13:00 |"
    part = part_of(row)
    assert part.spans == (part.core,)
    header = "| Day | Opens | Closes |"
    assert as_shown(row, "md", header) == "Day: Friday · Opens: 9:00 · Closes: 13:00"
    assert as_shown(row, "md", header, frozenset({2})) == "Day: Friday · Closes: 13:00"
    assert as_shown(row, "md", header, frozenset({0})) == as_shown(row, "md", header)
    assert as_shown(row) == "Friday · 9:00 · 13:00"
    assert as_shown("| Friday |  | 13:00 |", "md", header) == "Day: Friday · Closes: 13:00"


@pytest.mark.parametrize(
    ("core", "alone"),
    [
        ("Employees need the approval of their manager.", True),
        ("## Leave", False),
        ("**Opening hours**", False),
        ("You need three things for a visa:", False),
        ("- forty euros", True),
        ("The rule is simple: nobody leaves early.", True),
    ],
)
def test_headings_and_lead_ins_do_not_stand_alone(core: str, alone: bool) -> None:  # noqa: FBT001 - a parameter of the test
    start = PAGE.index(core)
    assert is_self_contained(PAGE, (start, start + len(core))) is alone


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
    assert as_shown(quote) == text


def test_a_sentence_may_be_shown_without_what_it_needs() -> None:
    start = PAGE.index("They ask for it in writing.")
    core = (start, start + 27)
    assert sentence_alone(PAGE, hit(PAGE), core).spans == (core,)


def test_a_place_beyond_the_text_at_hand_is_left_as_it_is() -> None:
    assert whole_part("", hit("It is so."), (0, 9)).spans == ((0, 9),)


# --- laws ----------------------------------------------------------------------------------------


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


@given(TEXTS, st.sampled_from([0, 1, 5, 40, 120]), st.data())
def test_a_part_holds_its_sentence_in_order_and_inside_the_text(
    text: str, all_items: int, data: st.DataObject
) -> None:
    text = body_of(text).text
    sentence = data.draw(st.sampled_from(split_hits([hit(text)])))
    core = sentence.begin, sentence.stop
    part = whole_part(text, hit(text), core, all_items)
    assert 1 <= len(part.spans) <= 2
    assert all(0 <= start <= end <= len(text) for start, end in part.spans)
    flat = [place for span in part.spans for place in span]
    assert flat == sorted(flat)
    assert part.core == core
    assert any(start <= core[0] and core[1] <= end for start, end in part.spans)
    assert 0 <= part.shown[0] <= part.shown[1]
    for start, end in part.spans:
        assert text[start:end] == text[start:end].strip("\n ") or (start, end) == core


@given(TEXTS, st.sampled_from([0, 40]), st.data())
def test_a_part_does_not_end_with_a_lead_in_that_something_follows(
    text: str, all_items: int, data: st.DataObject
) -> None:
    text = body_of(text).text + "\n\nThe end is here.\n"
    sentence = data.draw(st.sampled_from(split_hits([hit(text)])))
    part = whole_part(text, hit(text), (sentence.begin, sentence.stop), all_items)
    quoted = text[slice(*part.spans[-1])]
    if quoted.startswith("|") or text[part.spans[-1][1] :].lstrip().startswith("#"):
        return
    assert not quoted.rstrip().endswith((":", "：")), quoted


@given(TEXTS, st.sampled_from([0, 40]), st.frozensets(st.integers(0, 1)), st.data())
def test_what_is_shown_of_a_part_is_its_quotations(
    text: str, all_items: int, columns: frozenset[int], data: st.DataObject
) -> None:
    """So that a fresh bundle is never called bad."""
    body = body_of(text)
    one = hit(body.text)
    sentence = data.draw(st.sampled_from(split_hits([one])))
    part = whole_part(body.text, one, (sentence.begin, sentence.stop), all_items)
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
    said = "\n".join(as_shown(citation.quote, "md", header, columns) for citation in made)
    assert all(citation.verified for citation in made)
    if made and any(map(str.isalnum, said)):
        assert quotes(inert(said), made), (said, made)
        assert not quotes(inert(said) + " more", made)
