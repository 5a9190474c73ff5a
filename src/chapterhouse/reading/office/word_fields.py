"""What fields of Word show of which no result is stored: buttons, and formulas of old files.

[ECMA-376] part 1, 17.16.5.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final
from xml.etree.ElementTree import Element, SubElement

from chapterhouse.reading.office.ooxml import equation
from chapterhouse.reading.office.word_properties import whole, written_number

_BUTTON: Final = re.compile(r"\s*(?:MACRO|GOTO)BUTTON\s+\S+\s+(.*)", re.IGNORECASE | re.DOTALL)
_FORMULA: Final = re.compile(r"\s*EQ\s+(.*)", re.IGNORECASE | re.DOTALL)
_TOKEN: Final = re.compile(
    r"\\\*\s*(?:\"[^\"]*\"|\S+)\s*"  # how the result is formatted
    r"|\\(?P<name>[lrbfv]c)\s*\\(?P<sign>.)\s*"
    r"|\\(?P<option>[a-z]{2})(?![a-z])\s*(?P<number>-?\d*)\s*"
    r"|\\(?P<element>[abdfilorsx])\s*|\\(?P<escaped>.)|(?P<mark>[(),;])|(?P<text>[^\\(),;]+)",
    re.IGNORECASE | re.DOTALL,
)
# Office's elements for those of a field, and for their arguments, the last of which are there.
_ELEMENTS: Final = {"f": "f num den", "r": "rad deg e", "i": "nary sub sup e"}
_CLOSING: Final = {"(": ")", "[": "]", "{": "}", "<": ">"}
_CIRCLES: Final = frozenset("○◯〇")
_MOST_DEPTH: Final = 30  # elements in elements


def shown_by(instruction: str) -> str:
    """Return what a field without a result shows; nothing for those that calculate."""
    if button := _BUTTON.match(instruction):
        return button[1].strip()
    formula = _FORMULA.match(instruction)
    return equation(_row(_TOKEN.finditer(formula[1]), 0)[0]).strip() if formula else ""


def _row(tokens: Iterator[re.Match[str]], depth: int) -> tuple[Element, str]:
    """Return what stands side by side as an element of Office, and the mark behind it."""
    row, name, options = Element("e"), "", dict[str, str]()
    for token in tokens:
        if token["element"]:
            name, options = token["element"].lower(), {}
        elif token["option"] or token["name"]:
            key = token["option"] or token["name"]
            options[key.lower()] = token["sign"] or token["number"] or ""
        elif token["mark"] == "(" and depth < _MOST_DEPTH:
            row.append(_element(name, options, list(_arguments(tokens, depth + 1))))
            name, options = "", {}
        elif depth and token["mark"]:
            return row, token["mark"]
        else:
            SubElement(row, "t").text = token["escaped"] or token["text"] or token["mark"]
    return row, ""


def _arguments(tokens: Iterator[re.Match[str]], depth: int) -> Iterator[Element]:
    mark = ","
    while mark and mark in ",;":
        row, mark = _row(tokens, depth)
        yield row


def _element(name: str, options: Mapping[str, str], arguments: list[Element]) -> Element:
    """Return Office's element for one of a field; nothing is lost of those that it has not."""
    if name in _ELEMENTS:
        kind, *parts = _ELEMENTS[name].split()
        for part, argument in zip(parts[-len(arguments) :], arguments, strict=False):
            argument.tag = part
        sign = "∑" if "su" in options else "∏" if "pr" in options else "∫"
        return _made(kind, arguments, chr=options.get("fc", options.get("vc", sign)))
    if name == "s" and options.keys() & {"up", "do"}:
        kind = "Sub" if "do" in options else "Sup"
        arguments[0].tag = kind.lower()
        return _made(f"s{kind}", arguments)
    if name == "a":
        columns = max(whole(options.get("co", ""), 1), 1)
        places = range(0, len(arguments), columns)
        rows = [_made("mr", arguments[place : place + columns]) for place in places]
        return _made("m", rows) if columns > 1 else _made("eqArr", arguments)
    if name == "o":
        return _made("e", _overstruck(options, arguments))
    if name in {"b", ""}:
        both = options.get("bc", "" if options.keys() & {"lc", "rc"} else "(")
        end = options.get("rc", _CLOSING.get(both, both))
        return _made("d", arguments, begChr=options.get("lc", both), endChr=end, sepChr=",")
    return _made("d", arguments, begChr="", endChr="", sepChr=", ")


def _overstruck(options: Mapping[str, str], arguments: list[Element]) -> list[Element]:
    """Return what is left of signs one over the other.

    Of a word with its sound above it the word, as of ruby text; of a number in a circle its sign.
    """
    if "ad" in options:
        is_raised = [[local.tag for local in argument] == ["sSup"] for argument in arguments]
        return [one for one, raised in zip(arguments, is_raised, strict=True) if not raised]
    first, *others = map(equation, arguments)
    number = whole("".join(others), 0)
    if first in _CIRCLES and number:
        text = Element("t")
        text.text = written_number(number, "decimalEnclosedCircle")
        return [text]
    return arguments


def _made(kind: str, inside: Iterable[Element], **properties: str) -> Element:
    """Return an element with properties, as files have it."""
    element = Element(kind)
    stated = SubElement(element, f"{kind}Pr")
    for name, value in properties.items():
        SubElement(stated, name, val=value)
    element.extend(inside)
    return element
