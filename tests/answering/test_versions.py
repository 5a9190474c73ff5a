import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from chapterhouse import Library
from chapterhouse.presenting.answers import answer_markdown
from chapterhouse.types import Answer

Ask = Callable[..., Answer]
FEE = "# Tariff\n\nGuests pay 40 euros for a berth. Power is free.\n"


@pytest.fixture
def ask(tmp_path: Path) -> Iterator[Ask]:
    """Put texts by file name into a library, the later ones newer, and ask a question."""
    with Library.open(tmp_path / "home") as library:

        def asked(question: str, texts: dict[str, str]) -> Answer:
            for name, text in texts.items():
                path = tmp_path / "papers" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, "utf-8")
            library.documents.add(tmp_path / "papers")
            return library.answers.ask(question, model="none", remember=False)

        yield asked


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("tariff_v1.md", "tariff_v2.md"),
        ("tariff version 9.md", "tariff version 10.md"),
        ("tariff draft.md", "tariff final.md"),
        ("old/tariff.md", "tariff.md"),
        ("Tarif Entwurf.md", "Tarif.md"),
    ],
)
def test_both_sides_are_cited_the_newer_first(ask: Ask, older: str, newer: str) -> None:
    answer = ask("What do guests pay for a berth?", {older: FEE, newer: FEE.replace("40", "45")})
    (one,) = answer.versions
    assert one.values == (("45", "40"),)
    assert one.ordered
    cited = {citation.number: citation for citation in answer.citations}
    assert cited[one.newer].source == f"papers/{newer}"
    assert cited[one.older].source == f"papers/{older}"
    assert cited[one.newer].verified
    assert cited[one.older].verified
    line = "Versions differ: the newer one has “45”"
    assert line in answer_markdown(answer)


@pytest.mark.parametrize(
    ("value", "other"),
    [("40 euros", "40 dollars"), ("40", "40.00 "), ("Guests pay", "Members pay"), ("40", "40")],
)
def test_only_numbers_dates_and_names_are_values(ask: Ask, value: str, other: str) -> None:
    texts = {"tariff_v1.md": FEE, "tariff_v2.md": FEE.replace(value, other)}
    answer = ask("What do guests pay for a berth?", texts)
    assert [pair for one in answer.versions for pair in one.values] in ([], [("40.00", "40")])


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("hall north.md", "hall south.md"),
        ("minutes 2024.md", "minutes 2025.md"),
        ("a/tariff.md", "b/tariff.md"),
        ("tariff 1041.md", "tariff 1042.md"),
    ],
)
def test_other_documents_are_no_versions(ask: Ask, first: str, second: str) -> None:
    texts = {first: FEE, second: FEE.replace("40", "45")}
    assert ask("What do guests pay for a berth?", texts).versions == ()


def test_minutes_of_a_series_are_no_versions_though_much_of_them_is_the_same(ask: Ask) -> None:
    same = "".join(f"The {word} report was read.\n\n" for word in ("first", "next", "last"))
    own = {day: f"Item {day} is new.\n\nAlso {day} was set.\n\n" for day in (3, 4)}
    texts = {
        f"minutes 2024-0{day}.md": f"{FEE}\n\n{same}{own[day]}".replace("40", f"{37 + day}")
        for day in (3, 4)
    }
    assert ask("What do guests pay for a berth?", texts).versions == ()


def test_a_row_is_compared_with_its_own_row(ask: Ask) -> None:
    rows = "berth,metres,price\nnorth,12,40\nsouth,9,35\neast,7,30\n"
    texts = {"prices v1.csv": rows, "prices v2.csv": rows.replace("35", "38")}
    (one,) = ask("What is the price of berth south?", texts).versions
    assert one.values == (("38", "35"),)
    shorter = {"list v1.csv": rows, "list v2.csv": rows.replace("south,9,35\n", "")}
    assert not any("south" in str(one) for one in ask("price of berth south", shorter).versions)


def test_which_is_newer_is_said_only_where_it_is_known(ask: Ask, tmp_path: Path) -> None:
    for name, text in {"tariff.md": FEE, "tariff (1).md": FEE.replace("40", "45")}.items():
        path = tmp_path / "papers" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
        os.utime(path, (1_700_000_000, 1_700_000_000))
    answer = ask("What do guests pay for a berth?", {})
    assert not answer.versions[0].ordered
    assert "which is newer cannot be told" in answer_markdown(answer)


def test_a_copy_changes_neither_answer_nor_certainty(ask: Ask) -> None:
    alone = ask("What do guests pay for a berth?", {"tariff.md": FEE, "rules.md": "# Rules\n\nNo."})
    copied = ask("What do guests pay for a berth?", {"tariff (1).md": FEE})
    assert (alone.outcome, alone.certainty, alone.text) == (
        copied.outcome,
        copied.certainty,
        copied.text,
    )
    assert copied.versions == ()
