from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.models.failures import retry_after


def test_a_time_to_wait_may_be_a_date() -> None:
    later = datetime.now(UTC) + timedelta(seconds=90)
    assert 80 < retry_after(format_datetime(later)) <= 90
    assert retry_after(format_datetime(later - timedelta(hours=1))) == 0


@given(st.text(max_size=40))
def test_any_other_time_to_wait_is_none(value: str) -> None:
    assert retry_after(value) >= 0
