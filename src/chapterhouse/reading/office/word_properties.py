"""What properties in Word mean: styles, numbers of paragraphs, signs of fonts, fields of forms.

[ECMA-376] part 1, 17.3 to 17.9.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from typing import Final
from xml.etree.ElementTree import Element

from chapterhouse.reading.office.ooxml import attribute, children, local
from chapterhouse.reading.office.opendocument_blocks import write

_HEADING: Final = re.compile(r"heading ?([1-9])")
_MOST_INHERITED: Final = 20  # styles, one from another
_MOST_LEVELS: Final = 9
_MOST_NUMBER: Final = 32_767  # Word counts no further
_MOST_REPEATED: Final = 30  # letters: a, b … z, aa, bb …
_ORDINAL_ENDINGS: Final = {1: "st", 2: "nd", 3: "rd"}
_ALPHABETS: Final = {
    "lowerletter": "abcdefghijklmnopqrstuvwxyz",
    "russianlower": "абвгдежзиклмнопрстуфхцчшщэюя",
    "ganada": "가나다라마바사아자차카타파하",
    "ideographtraditional": "甲乙丙丁戊己庚辛壬癸",
    "ideographzodiac": "子丑寅卯辰巳午未申酉戌亥",
    "aiueofullwidth": "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホ",
    "irohafullwidth": "イロハニホヘトチリヌルヲワカヨタレソツネナラムウヰノオクヤマ",
    "arabicalpha": "أبتثجحخدذرزسشصضطظعغفقكلمنهوي",
    "arabicabjad": "أبجدهوزحطيكلمنسعفصقرشتثخذضظغ",
    "decimalenclosedcircle": "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳",
}
_CHINESE: Final = "零一二三四五六七八九"
_FULL_WIDTH: Final = str.maketrans("0123456789", "０１２３４５６７８９")
_PLACE: Final = re.compile(r"%([1-9])")


@dataclass(frozen=True, slots=True)
class Level:
    """How the paragraphs of one level of a list are numbered.

    ``restart`` is the level, from 1, behind which it starts again: 0 never, None behind any above.
    """

    form: str
    text: str  # in which %1 stands for the number of the first level
    start: int
    restart: int | None
    is_legal: bool  # all numbers are written in digits
    style: str  # of the paragraphs that are numbered so

    @property
    def is_bullet(self) -> bool:
        """Whether a sign stands before the paragraphs that is no text."""
        is_sign = bool(self.text.strip()) and re.search(r"\w\w", self.text) is None
        return self.form == "bullet" and is_sign


@dataclass(frozen=True, slots=True)
class List:
    """A list that paragraphs name: several may count as one, by ``counted``."""

    counted: str
    levels: Mapping[int, Level]
    starts: Mapping[int, int]  # of levels at which it begins anew


@dataclass(slots=True)
class Numbers:
    """Counts the numbered paragraphs of a document in their order."""

    list_of: Callable[[str], List | None]
    counts: dict[str, dict[int, int]] = field(default_factory=dict)
    begun: set[tuple[str, int]] = field(default_factory=set)  # levels that began anew already

    def next(self, name: str, number: int) -> str:
        """Count a paragraph at a level of a list, from 0; return what Word shows before it.

        A bullet is ``-``; nothing stands for a list or level that there is not.
        """
        found = self.list_of(name)
        level = None if found is None else found.levels.get(number)
        if found is None or level is None:
            return ""
        counts = self.counts.setdefault(found.counted, {})
        if number in found.starts and (name, number) not in self.begun:
            self.begun.add((name, number))
            counts.pop(number, None)
        before = counts.get(number, found.starts.get(number, level.start) - 1)
        counts[number] = before + 1
        for deeper in [place for place in counts if place > number]:
            behind = found.levels[deeper].restart if deeper in found.levels else None
            if behind is None or number < behind:
                del counts[deeper]
        return "-" if level.is_bullet else _shown(found, level, counts)


def _shown(found: List, level: Level, counts: Mapping[int, int]) -> str:
    """Return the number of a level with those above it that it shows."""

    def written(match: re.Match[str]) -> str:
        place = int(match[1]) - 1
        own = found.levels.get(place)
        if own is None:
            return ""
        count = counts.get(place, found.starts.get(place, own.start))
        return written_number(
            count, "decimal" if level.is_legal and own.form != "none" else own.form
        )

    return " ".join(_PLACE.sub(written, level.text).split())


def read_numbering(root: Element, style_list: Mapping[str, str]) -> Callable[[str], List | None]:
    """Return what finds a list of ``numbering.xml`` by its name.

    ``style_list`` has the list that each numbering style stands for.
    """
    abstract = {attribute(one, "abstractNumId"): one for one in children(root, "abstractNum")}
    named = {attribute(one, "numId"): one for one in children(root, "num")}

    def real(name: str) -> str:
        """Follow a list that a numbering style stands for to the one that has levels."""
        for _ in range(5):
            style = value(abstract.get(name), "numStyleLink")
            name = value(named.get(style_list.get(style, "")), "abstractNumId") or name
        return name

    @cache
    def list_of(name: str) -> List | None:
        own = named.get(name)
        if own is None:
            return None
        counted = real(value(own, "abstractNumId"))
        levels, starts = _levels(abstract.get(counted, own)), {}
        for override in children(own, "lvlOverride"):
            place, changed = whole(attribute(override, "ilvl"), 0), _levels(override)
            levels |= changed
            if (stated := value(override, "startOverride")) or changed:
                known = levels.get(place)
                starts[place] = whole(stated, known.start if known is not None else 1)
        return List(counted, levels, starts)

    return list_of


def _levels(parent: Element) -> dict[int, Level]:
    return {
        whole(attribute(level, "ilvl"), 0): Level(
            _form(level),
            value(level, "lvlText"),
            whole(value(level, "start"), 1),
            whole(behind, 0) if (behind := value(level, "lvlRestart")) else None,
            is_on(child_of(level, "isLgl")),
            value(level, "pStyle"),
        )
        for level in islice(children(parent, "lvl"), _MOST_LEVELS)
    }


def _form(level: Element) -> str:
    """Return the form of a level's numbers; one that only newer programs know may stand inside."""
    stated = [one for one in level.iter() if local(one) == "numFmt"]
    named = [attribute(one, "val") for one in stated]
    if "custom" in named:  # such as 001, 002
        return next((attribute(one, "format") for one in stated if attribute(one, "format")), "")
    return named[0] if named else "decimal"


def child_of(element: Element | None, name: str) -> Element | None:
    """Return the first child of a name; None without one."""
    if element is not None:
        ending = "}" + name  # much is looked for, so this is quick
        for child in element:
            if child.tag.endswith(ending):
                return child
    return None


def value(element: Element | None, name: str) -> str:
    """Return the ``w:val`` of a child; empty without one."""
    child = child_of(element, name)
    return "" if child is None else attribute(child, "val")


def is_on(element: Element | None) -> bool:
    """Whether a property is set that needs no value."""
    return element is not None and attribute(element, "val") not in {"0", "false", "off", "none"}


def whole(text: str, otherwise: int) -> int:
    """Return the number that a text writes, else another."""
    return min(int(text), _MOST_NUMBER) if re.fullmatch(r"[0-9]{1,9}", text) else otherwise


def written_number(number: int, form: str) -> str:
    """Return a number in one of Word's forms, in digits where the form is unknown."""
    small = form.lower()
    alphabet = _ALPHABETS.get(small.replace("upper", "lower"), "")
    shown = str(number)
    if small in {"none", "bullet"}:
        shown = ""
    elif alphabet or small.endswith("roman"):
        shown = _letters(number, alphabet) if alphabet else write(number, "i")
        shown = shown.upper() if "upper" in small else shown
    elif "counting" in small or small == "ideographdigital":
        shown = _chinese(number)
    elif small == "ordinal":
        teens = number % 100 // 10 == 1
        shown += "th" if teens else _ORDINAL_ENDINGS.get(number % 10, "th")
    elif small == "decimalfullwidth":
        shown = shown.translate(_FULL_WIDTH)
    elif small == "decimalzero" or small.startswith("0"):  # such as 001, 002
        shown = shown.zfill(max(2, len(small.partition(",")[0])) if small[0] == "0" else 2)
    return shown


def _letters(number: int, alphabet: str) -> str:
    """Return a letter, with case behind the last doubled, and so on; digits beyond that."""
    times, place = divmod(number - 1, len(alphabet))
    most = _MOST_REPEATED if alphabet[0].upper() != alphabet[0] else 1
    return alphabet[place] * (times + 1) if 0 <= times < most else str(number)


def _chinese(number: int) -> str:
    tens, ones = divmod(number, 10)
    if not 0 < tens < 10:  # noqa: PLR2004 - above 99, in digits
        return _CHINESE[ones] if not tens else str(number)
    return f"{_CHINESE[tens] if tens > 1 else ''}十{_CHINESE[ones] if ones else ''}"


# --- styles ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Style:
    """What the style of a paragraph or run says, with what it inherits."""

    heading: int = 0  # level, from 1; 0 without
    list: str = ""
    level: int | None = None  # in the list
    owner: str = ""  # the style that names the list
    kind: str = ""  # of its text: raised, lowered, struck out, hidden


def read_styles(root: Element) -> tuple[Callable[[str], Style], Mapping[str, str]]:
    """Return what finds a style by its id, and the list that each numbering style stands for."""
    found = {attribute(style, "styleId"): style for style in children(root, "style")}
    lists = {
        name: value(child_of(child_of(style, "pPr"), "numPr"), "numId")
        for name, style in found.items()
        if attribute(style, "type") == "numbering"
    }

    @cache
    def style(name: str, most: int = _MOST_INHERITED) -> Style:
        """Return a style; one that is not defined may have a telling name."""
        own = found.get(name)
        parent = value(own, "basedOn")
        base = style(parent, most - 1) if parent and most else Style()
        properties = child_of(own, "pPr")
        numbers = child_of(properties, "numPr")
        list_, place = value(numbers, "numId"), value(numbers, "ilvl")
        label = (value(own, "name") or name).casefold()
        named = _HEADING.fullmatch(label)
        heading = int(named[1]) if named else 1 if label == "title" else base.heading
        return Style(
            heading_level(properties, heading),
            list_ or base.list,
            whole(place, 0) if place else base.level,
            name if list_ else base.owner,
            kind_of(child_of(own, "rPr"), base.kind),
        )

    return style, lists


def heading_level(properties: Element | None, otherwise: int) -> int:
    """Return the level of the heading that a paragraph is, from 1; 0 as Word's tenth, of text."""
    stated = value(properties, "outlineLvl")
    if not stated.isdecimal():
        return otherwise
    return level + 1 if (level := whole(stated, 9)) < 9 else 0  # noqa: PLR2004 - there are nine


def kind_of(properties: Element | None, kind: str) -> str:
    """Return how text stands: raised, lowered, struck out or hidden; empty in the line."""
    for child in () if properties is None else properties:
        match local(child):
            case "vanish" if is_on(child):
                return "hidden"
            case "strike" | "dstrike":
                kind = "struck" if is_on(child) else ""
            case "vertAlign" if kind != "struck":
                stated = attribute(child, "val")
                kind = stated if stated in {"superscript", "subscript"} else ""
    return kind


# --- signs and forms ------------------------------------------------------------------------------

SYMBOLS: Final[dict[str, dict[int, str]]] = {  # by font: the character of each code
    "symbol": dict(zip(range(0x61, 0x7B), "αβχδεφγηιϕκλμνοπθρστυϖωξψζ", strict=True))
    | dict(zip(range(0x41, 0x5B), "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ", strict=True))
    | dict(zip(range(0xA3, 0xBF), "≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…", strict=False))
    | {code: chr(code) for code in range(0x20, 0x41)}
    | {0x2D: "−", 0xC5: "⊕", 0xC7: "∩", 0xC8: "∪", 0xCE: "∈", 0xD1: "∇", 0xD5: "∏", 0xD6: "√"}
    | {0xD7: "⋅", 0xD8: "¬", 0xD9: "∧", 0xDA: "∨", 0xDB: "⇔", 0xDE: "⇒", 0xE5: "∑", 0xF2: "∫"},
    "wingdings": {0x28: "☎", 0x2A: "✉", 0x6C: "●", 0x6E: "■", 0x6F: "☐", 0x71: "☐", 0x72: "☐"}
    | {0x76: "❖", 0x78: "☒", 0x9F: "•", 0xA7: "▪", 0xA8: "☐", 0xD8: "➢", 0xDF: "←", 0xE0: "→"}
    | {0xE8: "➔", 0xF0: "⇨", 0xFB: "✗", 0xFC: "✓", 0xFD: "☒", 0xFE: "☑"},
    "wingdings 2": {0x4F: "✗", 0x50: "✓", 0x51: "☒", 0x52: "☑", 0x53: "☒", 0x54: "☒", 0xA3: "☐"},
}
for _characters in SYMBOLS.values():  # Word writes them as private characters, too
    _characters.update({0xF000 + code: sign for code, sign in _characters.items()})
TICKED, NOT_TICKED = "☒", "☐"


def form_result(data: Element | None) -> str:
    """Return what a field of a form shows that has no result: a tick, the chosen entry."""
    box, choice = child_of(data, "checkBox"), child_of(data, "ddList")
    if box is not None:
        state = child_of(box, "checked")
        state = child_of(box, "default") if state is None else state
        return TICKED if is_on(state) else NOT_TICKED
    if choice is None:
        return ""
    chosen = value(choice, "result") or value(choice, "default") or "0"
    entries = [attribute(entry, "val") for entry in children(choice, "listEntry")]
    return next(iter(entries[whole(chosen, len(entries)) :]), "")


def symbol(element: Element) -> str:
    """Return the character of a symbol; nothing for those of unknown fonts."""
    code = attribute(element, "char")
    if not re.fullmatch(r"[0-9A-Fa-f]{1,4}", code):
        return ""
    known = SYMBOLS.get(attribute(element, "font").casefold(), {})
    number = int(code, 16)
    return known.get(number) or ("" if 0xD800 <= number < 0xF900 else chr(number))  # noqa: PLR2004 - private
