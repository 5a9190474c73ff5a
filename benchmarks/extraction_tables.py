"""Tables printed to PDF by LibreOffice, ruled and borderless, with the rows they must give."""

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from printing import convert

_PROSE = (
    "The committee met on the second floor and heard the report of the treasurer, who explained "
    "how the figures had been gathered, which of them were still provisional, and why two of the "
    "stations had sent theirs late. The secretary noted the objections and read them back."
)
_WORDS = [
    "harbour", "station", "upper", "valley", "river", "gate", "north", "mill", "bridge", "lower",
    "field", "east", "quay", "market", "hill", "castle", "orchard", "ferry", "granary",
]  # fmt: skip


_NOTE = "relit at dawn by the second watch, which also counted the buoys and found one adrift"
Shape = tuple[str, tuple[tuple[str, ...], ...], str, str]  # name, rows, attributes, cell style


@dataclass(frozen=True, slots=True)
class PrintedTable:
    """A table as it is printed: its rows, and how LibreOffice is told to draw it."""

    name: str
    ruled: bool
    rows: tuple[tuple[str, ...], ...]
    attributes: str = ""
    cell_style: str = ""

    @property
    def markdown(self) -> str:
        """The page as Markdown."""
        lines = ["| " + " | ".join(row) + " |" for row in self.rows]
        lines.insert(1, "|" + " --- |" * len(self.rows[0]))
        return f"{_PROSE}\n\n" + "\n".join(lines) + f"\n\n{_PROSE}"


def printed_tables() -> list[PrintedTable]:
    """Return the tables of the benchmark: each shape once ruled and once borderless."""
    shapes = list(_shapes())
    return [
        PrintedTable(
            f"{'ruled' if ruled else 'borderless'}-{name}",
            ruled,
            rows,
            f'border="{int(ruled)}" cellspacing="0" {attributes}',
            style,
        )
        for ruled in (True, False)
        for name, rows, attributes, style in shapes
    ]


def _shapes() -> Iterator[Shape]:
    yield from _numbers()
    yield from _words()
    yield from _mixed()


def _numbers() -> Iterator[Shape]:
    numbers = [[f"{(i * 37 + j * 911) % 9973:,}" for j in range(4)] for i in range(12)]
    named: list[tuple[str, ...]] = [("Station", "Spring", "Summer", "Autumn", "Winter")]
    named += [(_name(i), *row) for i, row in enumerate(numbers)]
    yield "numbers", tuple(named), 'width="100%" cellpadding="4"', "text-align:right"
    yield "narrow", tuple(row[:3] for row in named[:8]), 'cellpadding="3"', ""
    yield (
        "wide",
        tuple((*row, str(i), _name(i + 5)) for i, row in enumerate(named)),
        'width="100%" cellpadding="2"',
        "font-size:8pt",
    )


def _words() -> Iterator[Shape]:
    persons: list[tuple[str, ...]] = [("Name", "Office", "Place", "Since")]
    persons += [
        (
            f"{_name(i)} {_name(i + 7)}",
            ("Treasurer", "Secretary", "Chair", "Clerk")[i % 4],
            _name(i + 3),
            str(1960 + i),
        )
        for i in range(9)
    ]
    yield "persons", tuple(persons), 'cellpadding="6"', ""
    steps = [("Step", "What is done", "By whom")]
    steps += [
        (
            str(i + 1),
            f"{_name(i)} is measured twice, the mean is written to its book, then checked",
            f"{_name(i + 4)} watch",
        )
        for i in range(6)
    ]
    yield "wrapped", tuple(steps), 'width="60%" cellpadding="4"', ""
    sparse: list[tuple[str, ...]] = [("Item", "January", "February", "March")]
    sparse += [
        (_name(i), *(("" if (i + j) % 3 == 0 else f"{i * 7 + j}.50") for j in range(3)))
        for i in range(8)
    ]
    yield "sparse", tuple(sparse), 'width="80%" cellpadding="4"', "text-align:center"


def _mixed() -> Iterator[Shape]:
    prices: list[tuple[str, ...]] = [("", "Price", "Paid on")]
    prices += [(_name(i + 2), f"€ {i * 13 + 4}.90", f"{i + 1} May 1987") for i in range(7)]
    yield "prices", tuple(prices), 'width="70%" cellpadding="3"', "font-size:10pt"
    terms: list[tuple[str, ...]] = [("Term", "Meaning")]
    terms += [(_name(i), f"what the {_name(i + 6)} of the {_name(i + 9)} owes") for i in range(8)]
    yield "terms", tuple(terms), 'cellpadding="5"', "font-size:11pt"
    flags: list[tuple[str, ...]] = [("Boat", "Sound", "Insured", "Crew", "Tons")]
    flags += [
        (_name(i), "yes", "no" if i % 2 else "yes", str(i + 2), f"{i}.{i}") for i in range(10)
    ]
    yield "flags", tuple(flags), 'width="90%" cellpadding="1"', "text-align:center;font-size:9pt"
    notes: list[tuple[str, ...]] = [("Day", "Wind", "Remarks of the watch")]
    notes += [
        (
            f"{i + 3} June",
            "NW SE S"[i * 3 : i * 3 + 2].strip(),
            f"The {_name(i)} light was out; {_NOTE}",
        )
        for i in range(3)
    ]
    yield "notes", tuple(notes), 'width="75%" cellpadding="4"', "vertical-align:top"
    ledger: list[tuple[str, ...]] = [("No.", "Paid to", "Debit", "Credit", "Balance")]
    ledger += [
        (f"{i + 101}", f"{_name(i + 1)} & Co.", f"{i * 31}.00", "-", f"{9000 - i * 31}.00")
        for i in range(14)
    ]
    yield "ledger", tuple(ledger), 'width="100%" cellpadding="2"', "font-size:9pt"
    tides: list[tuple[str, ...]] = [("", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")]
    tides += [
        (name, *(f"{(i * 3 + j) % 12}:{j}5" for j in range(7)))
        for i, name in enumerate(("High", "Low", "Slack"))
    ]
    yield "tides", tuple(tides), 'cellpadding="4"', "text-align:center"
    crew: list[tuple[str, ...]] = [("Name and rank", "Duties on board", "Joined at")]
    crew += [
        (
            f"{_name(i)}, mate",
            f"keeps the {_name(i + 2)} log and winds the clock at noon",
            _name(i + 8),
        )
        for i in range(5)
    ]
    yield "crew", tuple(crew), 'width="85%" cellpadding="6"', "font-size:11pt;vertical-align:top"
    codes: list[tuple[str, ...]] = [("Code", "Signal")]
    codes += [(f"{chr(65 + i)}{i}", f"{_name(i + 4)} in sight") for i in range(9)]
    yield "codes", tuple(codes), 'cellpadding="2"', ""


def _name(index: int) -> str:
    first, second = _WORDS[index % len(_WORDS)], _WORDS[(index * 5 + 3) % len(_WORDS)]
    return f"{first.title()} {second}" if index % 2 else first.title()


def page_of(table: PrintedTable) -> str:
    """Return the HTML page that prints one table between two paragraphs."""
    rows = "\n".join(
        "<tr>"
        + "".join(f'<td style="{table.cell_style}">{html.escape(cell)}</td>' for cell in row)
        + "</tr>"
        for row in table.rows
    )
    return (
        f'<html><head><meta charset="utf-8"><title>{table.name}</title></head><body>'
        f"<p>{_PROSE}</p>"
        f"<table {table.attributes}>{rows}</table><p>{_PROSE}</p></body></html>"
    )


def print_tables(tables: Sequence[PrintedTable], folder: Path) -> dict[str, bytes]:
    """Print tables with LibreOffice and return the PDFs by name.

    Raises:
        FileNotFoundError: LibreOffice is not installed, or made no PDF of one.
    """
    for table in tables:
        (folder / f"{table.name}.html").write_text(page_of(table), encoding="utf-8")
    convert((folder / f"{table.name}.html" for table in tables), "pdf", folder)
    return {table.name: (folder / f"{table.name}.pdf").read_bytes() for table in tables}
