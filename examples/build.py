"""Build the office files of the example from ``sources/``, byte for byte the same every time.

python examples/build.py            # write them
python examples/build.py --check    # exit 1 if a committed file differs from its source
"""

import csv
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from writers.blocks import Block, parse  # noqa: E402 - the writers lie beside this script
from writers.docx import docx  # noqa: E402
from writers.odt import odt  # noqa: E402
from writers.pdf import pdf  # noqa: E402
from writers.pptx import pptx  # noqa: E402
from writers.xlsx import xlsx  # noqa: E402

ORGANISATION = HERE / "varnholm-ferry"
SOURCES = HERE / "sources"


def blocks(name: str) -> tuple[Block, ...]:
    return parse((SOURCES / name).read_text("utf-8"))


def rows(name: str) -> list[list[str]]:
    with (SOURCES / name).open(newline="", encoding="utf-8") as lines:
        return list(csv.reader(lines))


def hostile() -> bytes:
    """Return the hostile offer; its invisible characters are spelt out in the source."""
    return (SOURCES / "partnership-offer.md.escaped").read_bytes().decode("unicode_escape").encode()


def built() -> dict[str, bytes]:
    """Return every built file: path below the organisation -> content."""
    return {
        "handbook/crew-handbook.docx": docx(
            blocks("crew-handbook.md"),
            title="Crew Handbook",
            creator="Office of the Cooperative",
            when="2025-09-01",
        ),
        "finance/budget-2026.xlsx": xlsx(
            {
                "Income": rows("budget-2026.income.csv"),
                "Spending": rows("budget-2026.spending.csv"),
            },
            title="Budget 2026",
            creator="Helene Okoro",
            when="2025-10-06",
        ),
        "reports/annual-safety-report-2025.pdf": pdf(
            blocks("annual-safety-report-2025.md"),
            title="Annual Safety Report 2025",
            creator="Tomas Brandvik",
            when="2025-10-07",
        ),
        "briefings/electric-ferry-briefing.pptx": pptx(
            blocks("electric-ferry-briefing.md"),
            title="An electric ferry for the Osk route",
            creator="Marcus Ehde",
            when="2025-10-02",
        ),
        "minutes/board-minutes-2025-10-14.odt": odt(
            blocks("board-minutes-2025-10-14.md"),
            title="Minutes of the Board, 14 October 2025",
            creator="Jonas Brae",
            when="2025-10-21",
        ),
        "inbox/partnership-offer.md": hostile(),
    }


def main() -> int:
    check = "--check" in sys.argv[1:]
    stale = []
    for name, content in built().items():
        path = ORGANISATION / name
        if path.exists() and path.read_bytes() == content:
            continue
        stale.append(name)
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    print("\n".join(stale) or "every built file is up to date")
    return int(check and bool(stale))


if __name__ == "__main__":
    raise SystemExit(main())
