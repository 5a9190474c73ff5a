import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.reading.dispatch import read
from chapterhouse.reading.limits import Limits
from chapterhouse.text.markdown import BlockKind, blocks

RST = """\
=======
Harbour
=======

Fleet
-----
The *Heron* has::

    180 seats
      and a deck

.. note:: It leaves at nine.

Code
====

.. code-block:: python
   :linenos:

   # not a heading
   leave("nine")

====  ====
a     b
====  ====

Back
----
- rope

-----

end ``x``
"""
ADOC = """\
= Harbour
:toc:

== Fleet ==
The *Heron* has

[source,python]
----
# not a heading
== nor this
----

====
An example of 180 seats
====

Older title
-----------

....
as it stands
....

|===
|a |b
|===
"""
ORG = """\
#+TITLE: Harbour
#+author: Ada
# a comment
* TODO Fleet :boats:
The *Heron* has [[https://example.org][180 seats]].
#+BEGIN_SRC python :results none
# not a heading
leave("nine")
#+END_SRC
: as it stands
:   two
** Table
| a | b |
|---+---|
| 1 | 2 |
#+begin_quote
Said.
#+end_quote
"""


def text_of(text: str, name: str) -> str:
    extraction = read(text.encode(), name, Limits())
    assert extraction.markdown
    return extraction.pages[0].text


def outline(text: str) -> list[tuple[int, str]]:
    found = [block for block in blocks(text) if block.kind is BlockKind.HEADING]
    return [(block.level, block.title) for block in found]


def code(text: str) -> list[str]:
    return [
        text[block.start : block.end].strip()
        for block in blocks(text)
        if block.kind is BlockKind.CODE
    ]


def words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text)


def test_restructured_text_has_headings_and_code() -> None:
    text = text_of(RST, "a.rst")
    assert outline(text) == [(1, "Harbour"), (2, "Fleet"), (3, "Code"), (2, "Back")]
    assert code(text) == [
        "```\n180 seats\n  and a deck\n```",
        '```python\n# not a heading\nleave("nine")\n```',
    ]
    assert "The *Heron* has:\n" in text
    gone = {"code", "block", "python", "linenos"}
    assert [word for word in words(text) if word not in gone] == [
        word for word in words(RST) if word not in gone
    ]


def test_asciidoc_has_headings_and_code() -> None:
    text = text_of(ADOC, "a.asciidoc")
    assert outline(text) == [(1, "Harbour"), (2, "Fleet"), (2, "Older title")]
    assert code(text) == [
        "```python\n# not a heading\n== nor this\n```",
        "```\nas it stands\n```",
    ]
    assert [word for word in words(text) if word != "python"] == [
        word for word in words(ADOC) if word not in {"source", "python"}
    ]


def test_org_has_headings_code_links_and_tables() -> None:
    text = text_of(ORG, "a.org")
    assert outline(text) == [(1, "Harbour"), (2, "TODO Fleet :boats:"), (3, "Table")]
    assert code(text) == [
        '```python\n# not a heading\nleave("nine")\n```',
        "```\nas it stands\n  two\n```",
    ]
    assert "has [180 seats](https://example.org)." in text
    assert "| a | b |\n|---|---|\n| 1 | 2 |" in text
    assert "Said." in text
    assert "comment" not in text


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("a.rst", "::\n"),
        ("a.rst", ".. code::\n"),
        ("a.rst", "=====\n"),
        ("a.rst", "====\nx\n"),
        ("a.adoc", "----\n"),
        ("a.adoc", "[source]\n"),
        ("a.org", "#+BEGIN_SRC\n"),
    ],
)
def test_what_breaks_off_is_read_to_its_end(name: str, source: str) -> None:
    extraction = read(f"before\n\n{source}".encode(), name, Limits())
    assert extraction.pages[0].text.startswith("before")
    assert read((source + "  behind\n").encode(), name, Limits()).pages[0].text.count("behind") == 1


MARKED = """\
word|  indented|ends::||====|----|....|two words|* star|: x|== title|- item|\
    deep|#. first|`` x ``|[NOTE]|~~~~|+---+"""
LINES = st.lists(st.sampled_from(MARKED.split("|")), max_size=25)


@given(LINES, st.sampled_from(["rst", "adoc", "org"]))
def test_no_word_is_lost_or_moved(lines: list[str], format_: str) -> None:
    source = "\n".join(["begin", *lines])
    assert words(text_of(source, f"a.{format_}")) == words(source)
