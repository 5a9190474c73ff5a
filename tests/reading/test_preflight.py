from dataclasses import replace

import pytest

from chapterhouse.errors import RejectedError
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.preflight import preflight


def test_preflight_is_quick_on_the_largest_files(limits: Limits) -> None:
    preflight(b"\n" * limits.file_bytes, "a.txt", limits)
    with pytest.raises(RejectedError, match="document type"):
        preflight(b"<!--" + b"<" * (limits.file_bytes - 5), "a.xml", limits)


@pytest.mark.parametrize("beyond", [-1, 0, 1])
def test_limits_hold_to_the_byte(limits: Limits, beyond: int) -> None:
    tight = replace(limits, file_bytes=1_000, line_bytes=500)
    line = b"x" * (500 + beyond)
    file = b"x\n" * 499 + b"x" * (2 + beyond)
    for data, wanted in ((line, "line-too-long"), (file, "too-large")):
        if beyond <= 0:
            preflight(data, "a.txt", tight)
        else:
            with pytest.raises(RejectedError) as caught:
                preflight(data, "a.txt", tight)
            assert caught.value.code == wanted
