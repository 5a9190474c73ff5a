"""Read the tide gauge."""

import re
from typing import Protocol

ATTEMPTS = 3


class Port(Protocol):
    """What this module needs of a serial port."""

    def query(self, command: bytes) -> bytes:
        """Return the reply to a command, empty where none came in time."""


class GaugeError(Exception):
    """The gauge did not answer, or answered something that is no height."""


def read_gauge(port: Port) -> int:
    """Return the height of the water in centimetres above chart datum.

    The gauge is asked three times before ``GaugeError`` is raised, for it drops the first request
    after it has slept.
    """
    for _ in range(ATTEMPTS):
        found = re.fullmatch(rb"H([+-]\d{4})\r\n", port.query(b"H?"))
        if found:
            return int(found[1])
    raise GaugeError("The gauge did not answer with a height.")
