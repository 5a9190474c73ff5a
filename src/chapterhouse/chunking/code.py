"""Chunks of source files that end where definitions end.

Rules over lines, not a parser: they work on half a file, on a file with a syntax error and on a
language nobody thought of, as long as it is indented. A definition starts at a line that looks
like one, with the comments and decorators right above it, and reaches as far as the lines below
it are indented deeper.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from chapterhouse.chunking.limits import DEFAULT, Limits
from chapterhouse.chunking.segment import best_starts, spans_from
from chapterhouse.chunking.units import Border, Unit, fitted, line_spans
from chapterhouse.types import Body, Kind, Span, Stretch

_MODIFIERS = (
    r"(?:(?:export|default|declare|public|private|protected|internal|static|final|abstract|sealed"
    r"|override|virtual|async|await|unsafe|inline|constexpr|extern(?:\s+\"\w+\")?|open|data|partial"
    r"|synchronized|native|suspend|local|pub(?:\([^)]*\))?|const|mut|readonly|template\s*<[^>]*>)"
    r"\s+)*"
)
_DEFINITION = re.compile(
    rf"\s*{_MODIFIERS}(?:"
    r"(?:def|class|func|fun|fn|function\*?|interface|enum|struct|union|trait|impl|mod|module"
    r"|namespace|record|object|protocol|extension|macro_rules!|macro|sub|proc|typedef|defmodule"
    r"|defp?|defn|package)\b\s*[\w(<*&'\"]"
    r"|type\s+\w+"
    r"|(?:let|var|const|val)\s+\w+\s*(?::[^=]+)?=\s*(?:async\s*)?(?:function\b|\([^)]*\)\s*(?::[^=]+)?=>|\w+\s*=>)"
    r"|(?i:create\s+(?:or\s+replace\s+)?(?:table|view|function|procedure|trigger|index|type)\b)"
    r")"
)
# "name(arguments) … {": functions of C, Java, Go, JavaScript, shells; tried on such lines only.
_FUNCTION = re.compile(
    rf"\s*{_MODIFIERS}[\w.$:<>\[\],*&~\s]*[\w~$]\s*\([^;]*\)\s*(?:const\s*)?(?:noexcept\s*)?"
    r"(?:throws\s+[\w., ]+)?(?:->\s*[^;{]+|:\s*[\w<>\[\]| ]+)?\{\s*$"
)
_NOT_A_DEFINITION = re.compile(
    r"\s*\}?\s*(?:if|else|elif|for|foreach|while|switch|match|case|catch|try|do|with|return|new"
    r"|using|lock|when|unless|until|throw|await|yield|defer|go|select)\b"
)
_ATTACHED = re.compile(r"\s*(?:@\w|#\[|//|/\*|\*|--|;;|#(?!include|define|if|endif|pragma))")
_CLOSING = re.compile(r"\s*(?:[)\]}]|end\b|else\b|elif\b|except\b|finally\b|catch\b|`{3,}|~{3,})")

_TOP, _INNER = -2.0, -1.0  # before a definition
_BLANK, _DEEPER = 0.3, 0.25  # behind a blank line; for each level of indentation
_LINE = 1.5
_TORN = 5.0  # from what is attached, or before what closes
_TAB = 4
_LONGEST_HEAD = 300  # characters; longer lines are data


@dataclass(frozen=True, slots=True)
class _Line:
    start: int
    end: int
    indent: int  # columns; that of the next line with text where it is blank
    blank: bool
    defines: bool
    attached: bool
    closing: bool


def chunk_by_definition(body: Body, limits: Limits = DEFAULT) -> Sequence[Span]:
    """Cut a source file before its definitions; long ones at blank lines, the outermost first.

    Small definitions stand alone from the minimum length on. A chunk's parents are the
    definitions that contain it, such as a method and its class.
    """
    text = body.text
    lines = _lines(text)
    costs = _costs(lines)
    wholes = [Unit(line.start, line.end, Kind.CODE, Border.SENTENCE) for line in lines]
    cost_at = {line.start: cost for line, cost in zip(lines, costs, strict=True)}
    units = fitted(text, wholes, limits)
    by_unit = [cost_at.get(unit.start, _TORN) for unit in units]
    spans = spans_from(units, best_starts(units, by_unit, limits))
    return _with_definitions(spans, list(_definitions(lines)))


def _lines(text: str) -> list[_Line]:
    stretches = list(line_spans(text, 0, len(text)))
    contents = [text[start:end] for start, end in stretches]
    found: list[_Line] = []
    following = 0
    for number in range(len(contents) - 1, -1, -1):
        line = contents[number]
        blank = not line.strip()
        expanded = line.expandtabs(_TAB)
        indent = following if blank else len(expanded) - len(expanded.lstrip())
        opens_below = number + 1 < len(contents) and contents[number + 1].strip() == "{"
        found.append(
            _Line(
                *stretches[number],
                indent,
                blank,
                _defines(line, opens_below=opens_below),
                bool(_ATTACHED.match(line)),
                bool(_CLOSING.match(line)) and number > 0,
            )
        )
        following = indent
    return found[::-1]


def _defines(line: str, *, opens_below: bool) -> bool:
    """Say whether a line opens a definition; ``opens_below`` where its brace is on the next."""
    head = line[:_LONGEST_HEAD].rstrip()
    if _NOT_A_DEFINITION.match(head):
        return False
    if _DEFINITION.match(head):
        return True
    if opens_below:
        head += "{"
    return head.endswith("{") and "(" in head and _FUNCTION.match(head) is not None


def _costs(lines: Sequence[_Line]) -> list[float]:
    """Return what a cut before each line costs."""
    costs: list[float] = []
    opens = _opening_numbers(lines)
    for number, line in enumerate(lines):
        before = lines[number - 1] if number else line
        deeper = _DEEPER * (line.indent // _TAB)
        if line.closing or line.blank or (number == 1 and lines[0].start == 0):
            costs.append(_TORN)
        elif number in opens:
            costs.append(_TOP if not line.indent else _INNER + deeper)
        elif before.blank:
            costs.append(_BLANK + deeper)
        elif before.attached or before.defines:
            costs.append(_TORN)
        else:
            costs.append(_LINE + deeper)
    return costs


def _opening_numbers(lines: Sequence[_Line]) -> frozenset[int]:
    """Return where definitions open: at the first of the lines attached to them."""
    found: set[int] = set()
    for number, line in enumerate(lines):
        if not line.defines:
            continue
        first = number
        while first and lines[first - 1].attached and lines[first - 1].indent == line.indent:
            first -= 1
        found.add(first)
    return frozenset(found)


def _definitions(lines: Sequence[_Line]) -> Iterator[Stretch]:
    """Yield the stretches of the definitions, those that contain others first."""
    opens = sorted(_opening_numbers(lines))
    for first in opens:
        number = first
        while not lines[number].defines:
            number += 1
        indent = lines[number].indent
        last = number + 1
        while last < len(lines) and (
            lines[last].blank or lines[last].indent > indent or _still_inside(lines, last, indent)
        ):
            last += 1
        yield lines[first].start, lines[last - 1].end


def _still_inside(lines: Sequence[_Line], number: int, indent: int) -> bool:
    line = lines[number]
    return line.closing and line.indent == indent


def _with_definitions(spans: Sequence[Span], definitions: Sequence[Stretch]) -> Sequence[Span]:
    """Return ``spans`` with the definitions around each as parents, the innermost first."""
    result: list[Span] = []
    open_ones: list[Stretch] = []
    following = 0
    for span in spans:
        while following < len(definitions) and definitions[following][0] <= span.start:
            open_ones.append(definitions[following])
            following += 1
        open_ones = [one for one in open_ones if one[1] > span.start]
        around = [one for one in open_ones if one[1] >= span.end and one != (span.start, span.end)]
        around.sort(key=lambda one: (one[1] - one[0], one))
        result.append(replace(span, parents=tuple(dict.fromkeys(around))))
    return tuple(result)
