"""Decide when an alarm is due."""

from collections.abc import Sequence

IN_A_ROW = 3
QUIET_MINUTES = 60


def alarm_due(heights: Sequence[int], limit: int, minutes_below: int) -> bool:
    """Say whether the last values are a reason for an alarm.

    One high value is often a passing wake, so three in a row must be above the limit. After an
    alarm the water must stay below the limit for an hour before the next one.
    """
    last = heights[-IN_A_ROW:]
    high = len(last) == IN_A_ROW and all(height > limit for height in last)
    return high and minutes_below >= QUIET_MINUTES
