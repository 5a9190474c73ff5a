"""Work out when a ferry may enter the Osk basin at low tide.

The duty harbourmaster runs this every morning with the day's tide table:

    python tide_window.py tides-2025-11-21.csv teal

The under-keel clearance was raised from 0.6 to 0.8 metres in March 2025, after the channel survey
had found a boulder near the third buoy.
"""

import csv
import sys
from datetime import datetime
from pathlib import Path

UNDER_KEEL_CLEARANCE_M = 0.8
CHARTED_DEPTH_OSK_M = 2.1
DRAUGHT_M = {"heron": 2.7, "teal": 2.4, "sandpiper": 1.3, "limpet": 1.6}


def required_tide(vessel: str) -> float:
    """Return the tide height in metres that a vessel needs above chart datum."""
    return max(0.0, DRAUGHT_M[vessel] + UNDER_KEEL_CLEARANCE_M - CHARTED_DEPTH_OSK_M)


def open_windows(
    rows: list[tuple[datetime, float]], vessel: str
) -> list[tuple[datetime, datetime]]:
    """Return the stretches of time in which the tide is high enough for the vessel."""
    needed = required_tide(vessel)
    windows: list[tuple[datetime, datetime]] = []
    start: datetime | None = None
    for moment, height in rows:
        if height >= needed and start is None:
            start = moment
        if height < needed and start is not None:
            windows.append((start, moment))
            start = None
    if start is not None:
        windows.append((start, rows[-1][0]))
    return windows


def main() -> None:
    table, vessel = Path(sys.argv[1]), sys.argv[2]
    with table.open(newline="", encoding="utf-8") as lines:
        rows = [
            (datetime.fromisoformat(moment), float(height)) for moment, height in csv.reader(lines)
        ]
    for start, end in open_windows(rows, vessel):
        print(f"{start:%H:%M} to {end:%H:%M}")


if __name__ == "__main__":
    main()
