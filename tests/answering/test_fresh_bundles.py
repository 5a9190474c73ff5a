import asyncio
import json
import re
from collections.abc import Iterator
from dataclasses import replace

import pytest
from tests.answering.forgeries import FORGERIES, Forgery, forged

from chapterhouse.agents.ask import ask
from chapterhouse.answering.bundle import (
    ANSWER,
    bundle_json,
    examine,
    file_text,
    quotes,
    read_bundle,
)
from chapterhouse.answering.cite import cite, text_hash, verify
from chapterhouse.answering.request import AskOptions
from chapterhouse.errors import UsageError
from chapterhouse.library import Library
from chapterhouse.models.scripted import ScriptedModel
from chapterhouse.text.markdown import table_header
from chapterhouse.types import Answer, Body, Citation, Document, Quotation

RULES = """# Harbour rules

Inside the harbour no vessel may exceed 4 knots. The duty officer grants exceptions in fog.

- The gate closes at 21:30 from April to September.
- In winter the gate closes at **18:00**.
"""
BERTHS = """# Berths of the marina

What a berth costs, by its length:

| Berth | Longest vessel | Price a night |
| --- | --- | --- |
| North quay | ≤ 12 m | 40 euros |
| South quay | ≤ 18 m | 65 euros |
| Guest jetty |  | 20 euros |
"""
OLD = "# Harbour rules of 2019\n\nInside the harbour no vessel may exceed 6 knots.\n"
QUESTIONS = (
    "How fast may a vessel go inside the harbour?",
    "What does a berth at the South quay cost?",
    "What is the price of the guest jetty a night?",
    "When does the gate close in winter?",
    "Which vaccines does the dentist recommend for parrots?",
)
WRITTEN = """Inside the harbour no vessel may exceed 4 knots.[^{rules}]
Within the harbour no vessel may exceed four knots.[^{rules}] Exceptions in fog are granted by the \
duty officer.[^{rules}]
In winter the gate closes at 18:00.[^{rules}] The gate closes at 23:30 from April to September.\
[^{rules}]
The South quay: 65 euros.[^{berths}] The moon is a cheese."""


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder = tmp_path_factory.mktemp("harbour")
    papers = folder / "papers"
    papers.mkdir()
    for name, text in (("rules", RULES), ("berths", BERTHS), ("rules-2019", OLD)):
        (papers / f"{name}.md").write_text(text, "utf-8")
    with Library.open(folder / "home") as library:
        library.documents.add(papers)
        yield library


def written(library: Library) -> Answer:
    """Return what a model makes of the rules and berths: rightly, wrongly, in its own words."""

    def script(_instructions: str, prompt: str) -> str:
        found = re.findall(r"^\[(\d+)\] (.*)$", prompt, re.MULTILINE)
        rules = next(n for n, origin in found if "Harbour rules" in origin and "2019" not in origin)
        berths = next((number for number, origin in found if "Berths" in origin), rules)
        return WRITTEN.format(rules=rules, berths=berths)

    off = {"rewrite": "never"}
    expansion = library.settings.expansion.model_copy(update=off)
    settings = library.settings.model_copy(update={"expansion": expansion})
    own = library._runtime
    runtime = replace(own, settings=settings, language_model=lambda _: ScriptedModel(script))
    question = "How fast may a vessel go inside the harbour, and what does the South quay cost?"
    return asyncio.run(ask(question, "", AskOptions(remember=False, use_cache=False), runtime))


@pytest.fixture(scope="module")
def answers(harbour: Library) -> list[Answer]:
    found = [
        harbour.answers.ask(question, model="none", remember=False, use_cache=False)
        for question in QUESTIONS
    ]
    return [*found, written(harbour)]


def failed(text: str) -> set[str]:
    return {check.name for check in examine(read_bundle(text, ANSWER)) if not check.passed}


def test_the_answers_are_of_every_kind(answers: list[Answer]) -> None:
    assert any(citation.header for answer in answers for citation in answer.citations)
    assert any(not answer.found for answer in answers)
    assert answers[-1].method == "scripted"
    assert any(sentence.mismatches for sentence in answers[-1].sentences)


def test_a_fresh_bundle_passes_every_check(harbour: Library, answers: list[Answer]) -> None:
    for answer in answers:
        assert failed(bundle_json(harbour.answers.bundle(answer))) == set(), answer.text
        assert all(one.holds for one in harbour.answers.recheck(answer))


@pytest.mark.parametrize("resealed", [False, True])
@pytest.mark.parametrize("forgery", FORGERIES, ids=lambda forgery: forgery.name)
def test_a_forged_bundle_is_called_bad(
    harbour: Library,
    answers: list[Answer],
    forgery: Forgery,
    resealed: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    for answer in answers:
        fields = json.loads(bundle_json(harbour.answers.bundle(answer)))
        made = forged(fields, forgery, resealed=resealed)
        if made is None:
            continue
        try:
            found = failed(file_text(made))
        except UsageError:
            continue
        if resealed and forgery.needs_library:
            assert found == set()  # what a new seal can hide: the documents show it
            held = read_bundle(file_text(made), ANSWER).held
            assert not all(one.holds for one in harbour.answers.recheck(held))
        else:
            assert found, answer.text
            assert resealed is ("checksum" not in found)


def test_every_forgery_has_something_to_forge(harbour: Library, answers: list[Answer]) -> None:
    bundles = [json.loads(bundle_json(harbour.answers.bundle(answer))) for answer in answers]
    for forgery in FORGERIES:
        made = [forged(fields, forgery, resealed=True) for fields in bundles]
        assert any(made), forgery.name


def cited(quote: str, text: str = BERTHS) -> Citation:
    document = Document("b", "b.md", "/b.md", "B", "md", "test", "", text_hash(text), 1, 0)
    start = text.index(quote)
    span = Quotation("b", start, start + len(quote), quote)
    return verify(cite(document, span, 1), document, Body(text))


SOUTH = "| South quay | ≤ 18 m | 65 euros |"
JETTY = "| Guest jetty |  | 20 euros |"
WINTER = "- In winter the gate closes at **18:00**."


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        (SOUTH, "Berth: South quay · Longest vessel: ≤ 18 m · Price a night: 65 euros"),
        (SOUTH, "South quay · ≤ 18 m · 65 euros"),
        (SOUTH, SOUTH),
        (SOUTH, "Berth: South quay · Price a night: 65 euros"),
        (SOUTH, "Berth: South quay · Longest vessel: ≤ 18 m"),
        (JETTY, "Berth: Guest jetty"),  # the asked cell is empty
        (JETTY, "Berth: Guest jetty · Price a night: 20 euros"),
        (f"{SOUTH}\n{JETTY}", "South quay · ≤ 18 m · 65 euros\nGuest jetty · 20 euros"),
    ],
)
def test_a_row_is_quoted_with_or_without_its_columns(quote: str, text: str) -> None:
    assert quotes(text, [cited(quote)])


@pytest.mark.parametrize(
    "text",
    [
        "Berth: South quay · Longest vessel: ≥ 18 m · Price a night: 65 euros",
        "Price a night: South quay · Longest vessel: ≤ 18 m · Price a night: 65 euros",
        "Berth: South quay",
        "South quay · Longest vessel: ≤ 18 m · Price a night: 65 euros",
        "Longest vessel: ≤ 18 m · Price a night: 65 euros",
        "South quay · 65 euros",
        "Berth: South quay · Price a night: 65 euros · Longest vessel: ≤ 18 m",
        "Berth: South quay · Longest vessel: 65 euros · Price a night: ≤ 18 m",
        "Berth: South quay · Longest vessel: ≤ 18 m · Price a night: 65 euros a month",
        "",
    ],
)
def test_a_row_that_says_anything_else_is_not_quoted(text: str) -> None:
    assert not quotes(text, [cited(SOUTH)])


def test_a_list_is_quoted_with_and_without_its_marks() -> None:
    one = cited(WINTER, RULES)
    assert quotes("In winter the gate closes at 18:00.", [one])
    assert quotes(WINTER, [one])
    assert not quotes("In winter the gate closes at 18:30.", [one])
    assert not quotes("In winter the gate closes", [one])
    assert not quotes("In winter the gate closes at 18:00.", [])
    other = cited("The duty officer grants exceptions in fog.", RULES)
    assert quotes(
        "The duty officer grants exceptions in fog. In winter the gate closes at 18:00.",
        [other, one],
    )


def test_a_heading_row_is_that_of_the_own_table() -> None:
    text = f"| No | Table |\n\n{BERTHS}\nEnd.\n\n| A | B |\n|---|---|\n| 1 | 2 |\n"
    assert table_header(text, text.index(JETTY)) == "| Berth | Longest vessel | Price a night |"
    assert table_header(text, text.index("| 1 | 2 |")) == "| A | B |"
    assert table_header(text, text.index("| A | B |")) == "| A | B |"
    assert table_header(text, 0) == ""
    assert cited(WINTER, RULES).header == ""


def test_a_hostile_table_takes_no_time() -> None:
    row = f"|{' a |' * 2_000}"
    text = f"{row}\n|{' - |' * 2_000}\n{row}x\n"
    assert not quotes("a" * 3_999 + "b", [replace(cited(row, text), header=row)])
