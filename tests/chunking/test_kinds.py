"""Telling kinds of documents apart."""

import pytest

from chapterhouse.chunking.analysed import analysed
from chapterhouse.chunking.kinds import DEFAULT_STRATEGIES, DocumentKind, kind_of

from .bodies import body_of

PROSE = "The gate opens at dawn, and boats wait outside until the tide turns. " * 4
DOCUMENTATION = "".join(f"## {title}\n\n{PROSE}\n\n" for title in ("Mooring", "Tides", "Fees"))
REFERENCE = "".join(
    f"## {name}\n\nOpens the gate.\n\n" for name in ("`open_gate()`", "gate.close", "Notes")
)
PAPER = "".join(
    f"# {title}\n\n{PROSE} As shown by Smith et al. [3], it holds [4, 5] (Jones, 2014).\n\n"
    for title in ("Abstract", "1. Introduction", "2 Methods", "Results", "References")
)
SCRIPT = "```python\n" + "def one():\n    return 1\n\n" * 20 + "```\n"
MIXED = f"# Gates\n\n{PROSE}\n\n{SCRIPT}"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (DOCUMENTATION, DocumentKind.DOCUMENTATION),
        (REFERENCE, DocumentKind.REFERENCE),
        (PAPER, DocumentKind.PAPER),
        (SCRIPT, DocumentKind.CODE),
        (MIXED, DocumentKind.MIXED),
        (PROSE, DocumentKind.PLAIN),
        ("", DocumentKind.PLAIN),
    ],
)
def test_the_shape_tells_the_kind(text: str, kind: DocumentKind) -> None:
    assert kind_of(body_of(text)) is kind


def test_the_format_of_a_source_file_tells_it_too() -> None:
    body = body_of("x = 1\n", markdown=False)
    assert kind_of(analysed(body, ("py", "code"))) is DocumentKind.CODE


def test_every_kind_has_a_strategy() -> None:
    assert set(DEFAULT_STRATEGIES) == set(DocumentKind)
