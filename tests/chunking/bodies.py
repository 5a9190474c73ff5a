"""Texts of every shape, for the laws that all strategies keep."""

from hypothesis import strategies as st

from chapterhouse.text.canonical import compose
from chapterhouse.types import Body, ExtractedPage, Extraction

WORDS = st.lists(
    st.sampled_from(["harbour", "gate", "wind", "a", "Eight", "港口", "42"]),
    min_size=1,
    max_size=30,
).map(" ".join)
PIECES = st.one_of(
    WORDS.map(lambda words: f"{words}. "),
    WORDS.map(lambda words: f"\n\n# {words}\n\n"),
    WORDS.map(lambda words: f"\n\n### {words}\n\n"),
    WORDS.map(lambda words: f"\n\n{words}.\n\n"),
    st.integers(1, 60).map(
        lambda n: "\n\n| name | value |\n|---|---|\n" + "| row of a table | 42 |\n" * n + "\n"
    ),
    st.integers(1, 40).map(lambda n: "\n\n```python\n" + "value = compute(1)\n" * n + "```\n\n"),
    st.integers(1, 5).map(lambda n: "def one(x):\n    return x\n\n" * n),
    st.text(max_size=50),
    st.sampled_from(["x" * 700, "y" * 3_000, "\n" * 400, " " * 200, "| " + "wide " * 300 + "|\n"]),
)
TEXTS = st.lists(PIECES, max_size=14).map("".join)


def body_of(text: str, *, markdown: bool = True) -> Body:
    """Return the body of a text as reading it gives it."""
    return compose(Extraction((ExtractedPage(text),), "md", "test", markdown=markdown))[0]
