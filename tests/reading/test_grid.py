"""Sheets and delimited text: which row heads which values, and what is no table."""
# ruff: noqa: E501, ISC004 - a sheet a line

import csv
import io
import re
from collections import Counter

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from chapterhouse.reading.dispatch import read
from chapterhouse.reading.grid import Span, grid_blocks
from chapterhouse.reading.limits import Limits
from chapterhouse.text.markdown import table_cells, table_header

from .conftest import odf_parts, odf_table, packaged, xlsx_parts

# Lines of cells that bars divide; "under" says what heads a value, "" that nothing does.
CASES: dict[str, tuple[str, dict[str, str], tuple[str, ...]]] = {
    "a title and a date above the headings": (
        "Wartungsplan der Fähren\nStand: 3. März 2026\n\nOrt|Kran|Kosten\nAldvik|12 t|410\nKrona|9 t|615",
        {"410": "Kosten", "9 t": "Kran", "Krona": "Ort"},
        ("Wartungsplan der Fähren", "Stand: 3. März 2026"),
    ),
    "a title without an empty row below": (
        "Flotte 2026||\nSchiff|Plätze|Heimat\nHeron|180|Aldvik",
        {"180": "Plätze", "Aldvik": "Heimat"},
        ("Flotte 2026",),
    ),
    "pairs without an empty row below": (
        "Exporté|2026-04-01|\nPort|Honfleur|\nCuve|Niveau|Alerte\nT-11|81|haute\nT-12|17|basse",
        {"17": "Niveau", "basse": "Alerte"},
        ("Exporté: 2026-04-01", "Port: Honfleur"),
    ),
    "two rows of headings": (
        "Site|Crane||Ramp||Owner\n|Inspection|Cost|Inspection|Cost|\nAldvik|12 May|410|3 June|220|Rask\n"
        "Borgnes|14 May|530|9 June|260|Solheim",
        {"260": "Ramp, Cost", "12 May": "Crane, Inspection", "Solheim": "Owner"},
        (),
    ),
    "years below groups": (
        "Region|Umsatz||Kosten|\n|2023|2024|2023|2024\nNord|12|14|9|8\nSüd|22|27|19|16",
        {"27": "Umsatz, 2024", "19": "Kosten, 2023"},
        (),
    ),
    "years are headings": ("Site|2023|2024\nAldvik|1200|1300", {"1300": "2024", "Aldvik": "Site"}, ()),
    "months are headings": ("Site|1|2|3\nAldvik|120|130|99", {"130": "2"}, ()),
    "tables above each other and side by side": (
        "Employee|Desk|||Printer|Code\nAnn Voss|4-12|||Ink-3|8821\nBo Lind|4-13|||Ink-4|7719\n\n\n"
        "Room|Seats\nFjord|18\nDelta|6",
        {"6": "Seats", "Delta": "Room", "7719": "Code", "Bo Lind": "Employee"},
        (),
    ),
    "tables that touch at a corner": (
        "Kai|Tiefe||\nNord|8||\nSüd|9||\n||River|Length\n||Lena|4400\n||Ob|3650",
        {"9": "Tiefe", "3650": "Length", "Lena": "River"},
        (),
    ),
    "the block of a form": (
        "|SWITCHBOARD|MODEL-000\nE-123|DATA SHEET|2016\n||Page 1 of 10",
        {"2016": "", "DATA SHEET": "", "E-123": ""},
        (),
    ),
    "names with their values in three columns": (
        "Name:|Premier Group|Net\nContact:|Michael Chen|Corporate\nUnit:|Shows|10 %",
        {"Michael Chen": "", "Corporate": ""},
        (),
    ),
    "headings some of which have a colon": (
        "Package no.:|Doc. no.:|Rev.\n13156456|144564|A",
        {"13156456": "Package no.:", "A": "Rev."},
        (),
    ),
    "a taller table beside": (
        "Kai|Tiefe||Tag|Pegel\nNord|8||Montag|212\nSüd|9||Dienstag|214\n|||Montag|209",
        {"209": "Pegel", "9": "Tiefe"},
        (),
    ),
    "rows go on behind an empty one": (
        "Ship|Seats|Port\nHeron|180|Aldvik\n\nTeal|90|Krona\n\nSum|270|",
        {"90": "Seats", "Krona": "Port", "270": "Seats"},
        (),
    ),
    "headings and an empty row": ("Ship|Seats\n\nHeron|180\nTeal|90", {"90": "Seats"}, ()),
    "headings told by nothing": (
        "Skipper|Town\nAnn|Oslo\n\nRoom|Keeper\nDelta|Rask",
        {"Rask": "", "Delta": "", "Oslo": "Town"},
        (),
    ),
    "headings below a title of their own": (
        "Skipper|Town\nAnn|Oslo\n\nRooms\nRoom|Keeper\nDelta|Rask",
        {"Rask": "Keeper", "Oslo": "Town"},
        ("Rooms",),
    ),
    "no headings": ("T-11|81|high\nT-12|17|low", {"81": "", "T-12": "", "low": ""}, ()),
    "codes alone": ("A-1|red\nA-2|blue\nB-7|red", {"A-2": "", "blue": ""}, ()),
    "a form": (
        "Name of keeper|Ragna\nLamp type|LED 40 W\nHeight|21 m\nRange|18",
        {"LED 40 W": "", "21 m": ""},
        (),
    ),
    "settings": (
        "Setting|Value\ntimeout|30\nname|web\nretries|5",
        {"30": "Value", "web": "Value", "timeout": "Setting"},
        (),
    ),
    "settings in German": (
        "Einstellungen|Wert\nZeitlimit|30\nRechner|web",
        {"30": "Wert", "Rechner": "Einstellungen"},
        (),
    ),
    "settings below another table": (
        "Ship|Seats\nHeron|180\n\nOption name|Default value\ntimeout|30\nname|web",
        {"180": "Seats", "30": "Default value", "name": "Option name"},
        (),
    ),
    "names of settings": (
        "Schalter|Zustand\nlog.level|debug\ncache.size|512",
        {"512": "Zustand", "log.level": "Schalter"},
        (),
    ),
    "names of settings alone": (
        "Name|web\nlog.level|debug\ncache.size|512",
        {"512": "", "web": ""},
        (),
    ),
    "settings without headings": (
        "timeout|30\nlog.level|debug\ncache.size|512",
        {"30": "", "debug": ""},
        (),
    ),
    "questions": (
        "Thema|Auskunft\nWo liegt sie?|Aldvik\nWie viele Plätze?|180",
        {"180": "Auskunft", "Aldvik": "Auskunft"},
        (),
    ),
    "labels of a form": ("Feld|Inhalt\nName:|Ragna\nHöhe:|21", {"21": "Inhalt"}, ()),
    "a form that begins with a known label": (
        "Name|Ragna\nheight|21\nrange|18\nport|Krona",
        {"21": "", "Ragna": "", "Krona": ""},
        (),
    ),
    "groups of unequal width": (
        "Site|Crane|||Ramp||Owner\n|Inspection|Cost|Note|Inspection|Cost|\n"
        "Aldvik|12 May|410|old|3 June|220|Rask\nKrona|1 May|10|new|13 June|20|Ask",
        {"410": "Crane, Cost", "old": "Crane, Note", "220": "Ramp, Cost", "Rask": "Owner"},
        (),
    ),
    "years of unequal groups": (
        "|Umsatz||Kosten||\nRegion|2023|2024|2022|2023|2024\nNord|11|12|13|14|15\nSüd|6|7|8|9|10",
        {"12": "Umsatz, 2024", "13": "Kosten, 2022", "15": "Kosten, 2024"},
        (),
    ),
    "a sum behind groups": (
        "Region|2023||2024||\n|H1|H2|H1|H2|Total\nNord|11|12|13|14|15\nSüd|6|7|8|9|10",
        {"12": "2023, H2", "14": "2024, H2", "15": "Total"},
        (),
    ),
    "names over the middle of groups": (
        "Site||Crane||Ramp|\n|Load|Reach|Height|Length|Width\nAldvik|11|12|13|14|15\nKrona|6|7|8|9|10",
        {"11": "Load", "12": "Crane, Reach", "13": "Height", "15": "Width"},
        (),
    ),
    "groups whose end nothing tells": (
        "|Crane||Ramp||\nSite|Load|Reach|Length|Width|Owner\nAldvik|11|12|13|14|Ann\nKrona|6|7|8|9|Bo",
        {"12": "Reach", "14": "Width", "Ann": "Owner"},
        (),
    ),
    "ends of names": ("Keeper:|Ragna\nLamp:|LED\nHeight:|high", {"LED": "", "high": ""}, ()),
    "a table as always": ("id|name\n1|Ann\n2|Bo", {"2": "id", "Bo": "name"}, ()),
    "an index without a heading": ("|Name|Town\n0|Ann|Oslo\n1|Bo|Krona", {"Krona": "Town", "1": ""}, ()),
    "a note below": (
        "Ship|Seats\nHeron|180\nSeats are counted when the ship is new, without crew.|",
        {"180": "Seats"},
        ("Seats are counted when the ship is new, without crew.",),
    ),
    "a section between rows": ("Ship|Seats\nNorth|\nHeron|180", {"180": "Seats"}, ()),
    "no Markdown": ("# One\n- two\n\nShip|Seats\nHeron|180", {"180": "Seats"}, ("\\# One", "- two")),
}  # fmt: skip


def cells(text: str) -> list[list[str]]:
    return [line.split("|") if line else [] for line in text.split("\n")]


def under(text: str, value: str) -> str:
    """What heads the only cell that has a value."""
    (line,) = (line for line in text.split("\n") if value in table_cells(line) and line[0] == "|")
    place = table_cells(line).index(value)
    header = table_header(text, text.index(line))
    return table_cells(header)[place] if header else ""


@pytest.mark.parametrize("name", CASES)
def test_a_value_is_shown_under_its_own_heading_or_none(name: str) -> None:
    written, wanted, lines = CASES[name]
    rows = cells(written)
    width = max(map(len, rows))
    out = io.StringIO()
    csv.writer(out, delimiter=";").writerows(rows)
    sheet = tuple(tuple(row + [""] * (width - len(row))) for row in rows)
    texts = {
        "grid": "\n\n".join(grid_blocks(rows)),
        "csv": read(out.getvalue().encode(), "a.csv", Limits()).pages[0].text,
        "stated": read(f"sep=;\r\n{out.getvalue()}".encode(), "a.csv", Limits()).pages[0].text,
        "xlsx": packaged(xlsx_parts(sheet), "xlsx").pages[0].text,
        "ods": packaged(
            odf_parts("spreadsheet", f"<office:spreadsheet>{odf_table(sheet)}</office:spreadsheet>"),
            "ods",
        ).pages[0].text,
    }  # fmt: skip
    for made_by, text in texts.items():
        assert {value: under(text, value) for value in wanted} == wanted, (made_by, text)
        shown = [line for line in text.split("\n") if line and line[0] not in "|#"]
        assert shown == list(lines), made_by


def test_a_merged_cell_belongs_to_its_rows_and_columns() -> None:
    rows = cells(
        "Flotte 2026|||\n|2025||\nHafen|Q1|Q2|Schiff\nAldvik|4|5|Heron\n|6|7|Teal\nKrona|8|9|"
    )
    spans = [Span(0, 0, 0, 3), Span(1, 1, 1, 2), Span(3, 0, 4, 0), Span(4, 3, 9, 3)]
    assert grid_blocks(rows, spans) == [
        "Flotte 2026",
        "| Hafen | 2025, Q1 | 2025, Q2 | Schiff |\n| --- | --- | --- | --- |\n"
        "| Aldvik | 4 | 5 | Heron |\n| Aldvik | 6 | 7 | Teal |\n| Krona | 8 | 9 | Teal |",
    ]
    long = "x" * 300
    assert (
        long not in grid_blocks(cells(f"a|b\n{long}|1\n|2"), [Span(1, 0, 2, 0)])[0].split("\n")[3]
    )
    many = [Span(0, 0, 9**9, 9**9)] * 1_000_000
    assert grid_blocks(cells("a|b\n1|2"), many) == grid_blocks(cells("a|b\n1|2"))


TEXTS = st.sampled_from(
    ["", "", "", "Name", "Ort", "12", "2024", "T-11", "a@b", "x" * 50, "Port:", "Q1"]
)


@given(
    rows=st.lists(st.lists(TEXTS, max_size=7), max_size=9),
    spans=st.lists(st.builds(Span, *[st.integers(0, 9)] * 4), max_size=4),
    is_csv=st.booleans(),
)
@example(rows=[["", ""]], spans=[Span(0, 0, 0, 1)], is_csv=False)
def test_no_text_of_a_grid_is_lost(
    rows: list[list[str]], spans: list[Span], *, is_csv: bool
) -> None:
    def words(text: str) -> Counter[str]:
        return Counter(re.findall(r"[\w@-]+", text))

    text = "\n".join(grid_blocks(rows, spans, is_delimited=is_csv))
    written = words(" ".join(cell for row in rows for cell in row))
    assert set(written) <= set(words(text))
    assert sum((written - words(text)).values()) <= 2 * 7  # the same in two rows of headings
