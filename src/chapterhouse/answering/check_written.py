"""From what a model wrote to sentences that are judged, cited and verified.

::

    text -> without markers -> sentences, each with its markers -> judged -> spans -> citations

A model is believed nothing: a marker that names no block of this request is no citation, a
sentence is shown with how far the documents carry it, and every quotation is looked up in the
stored text before anyone sees it.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from chapterhouse.answering.checksum import agrees
from chapterhouse.answering.cite import cite, verify
from chapterhouse.answering.prompt import (
    Marker,
    Place,
    as_markers,
    resolve,
    without_look_alikes,
    without_markers,
)
from chapterhouse.ports.models import ClaimJudge
from chapterhouse.text.sanitise import sanitise
from chapterhouse.text.sentences import sentence_spans
from chapterhouse.types import (
    FOUND,
    AnswerSentence,
    Body,
    Citation,
    Document,
    Draft,
    Evidence,
    Judgement,
    Problem,
    ProblemKind,
    Quotation,
    Support,
)

_SPANS: Final = 3  # quotations shown of one sentence
# Two markers side by side are no link.
_TARGET: Final = r"(?:\([^()\n]{0,2000}\)|\[(?!\^)[^\[\]\n]{0,200}\])"
_IMAGE: Final = re.compile(rf"!\[(?!\^)[^\[\]\n]{{0,500}}\]{_TARGET}")
# Nor are two numbers in brackets.
_LINK: Final = re.compile(rf"\[(?!\^|\d{{1,4}}\])([^\[\]\n]{{1,500}})\]{_TARGET}")
_DELIMITERS: Final = frozenset("|:- 	")
_DEFINITION: Final = re.compile(r"^[ \t]{0,3}\[[^\[\]\n]{1,400}\]:[^\n]*$", re.MULTILINE)
_TAG: Final = re.compile(r"</?[A-Za-z][^<>\n]{0,2000}>|<!--.{0,2000}?-->", re.DOTALL)
_ENDS_ADDRESS: Final = r"\s<>\"')\]。，、；：！？）」』】》"
_BRACKETS: Final = str.maketrans("【〔［", "⟦⟦⟦")
_ADDRESS: Final = re.compile(
    rf"(?:(?:https?:)?//|\bwww\.)[^{_ENDS_ADDRESS}]*[^{_ENDS_ADDRESS}.,;:!?]", re.IGNORECASE
)
# What is left of links, definitions and tags once those that are whole were taken out.
_JOINED: Final = re.compile(r"\](?=[(\[:])")
_OPENED: Final = re.compile(r"<(?=[A-Za-z/!?])")
_LINE_MARK: Final = re.compile(r"[ \t]*(?:#{1,6}[ \t]+|>[ \t]?|[-*+•][ \t]+)*")
_BULLETS: Final = frozenset("-*+•")
_OPEN: Final = re.compile(r"[\[【〔［][^\]】〕］\n]{0,500}\Z")  # a bracket, not closed yet
_ENUMERATION: Final = re.compile(r"(\d{1,3})[.)][ \t]+(?=\S)")


@dataclass(frozen=True, slots=True)
class Given:
    """What a model was given and may cite: a place with the stretch of text that stands there."""

    place: Place
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Lookup:
    """What checking looks up: documents and their texts by id, None where they are gone."""

    document: Callable[[str], Document | None]
    body: Callable[[str], Body | None]


@dataclass(frozen=True, slots=True)
class Checked:
    """A model's text after checking.

    Attributes:
        rejected: Markers that cite nothing that was given, and what only looked like one.
    """

    sentences: tuple[AnswerSentence, ...]
    citations: tuple[Citation, ...]
    rejected: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Sentence:
    text: str
    before: str
    markers: tuple[str, ...]


_NOTHING: Final = _Sentence("", "", ())


def check(text: str, given: Sequence[Given], judge: ClaimJudge, lookup: Lookup) -> Checked:
    """Return what a model wrote as sentences with verified citations.

    Args:
        text: What it wrote.
        given: What it was given; nothing else can be cited.
        judge: Says how far evidence carries a sentence.
        lookup: Where quotations are looked up.
    """
    return _checked(
        _sentences(as_markers(text, [one.place for one in given])), given, judge, lookup
    )


def check_draft(text: str, given: Sequence[Given], judge: ClaimJudge, lookup: Lookup) -> Draft:
    """Return what a model has written so far: its whole sentences checked, and the one begun.

    Arguments as of ``check``. A bracket that is still open is not shown: it may become a marker.
    """
    open_bracket = _OPEN.search(text)
    shown = text[: open_bracket.start()] if open_bracket else text
    *whole, begun = list(_sentences(as_markers(shown, [one.place for one in given]))) or [_NOTHING]
    checked = _checked(whole, given, judge, lookup)
    return Draft(checked.sentences, _plain(without_look_alikes(begun.text)[0], _addresses(given)))


def _checked(
    sentences: Iterable[_Sentence], given: Sequence[Given], judge: ClaimJudge, lookup: Lookup
) -> Checked:
    cited = _Citations(lookup, [one.evidence for one in given], judge)
    checked_sentences: list[AnswerSentence] = []
    rejected: list[str] = []
    addresses = _addresses(given)
    skipped = 0
    for sentence in sentences:
        bare, look_alikes = without_look_alikes(sentence.text)
        plain = _plain(bare, addresses)
        unknown = [m for m in sentence.markers if not resolve(m, [g.place for g in given])]
        rejected += [*unknown, *look_alikes]
        breaks = max(sentence.before.count("\n"), skipped)
        if not any(character.isalnum() for character in plain):
            skipped = breaks
            continue
        before = "\n" * breaks + sentence.before.lstrip("\n")
        judged = _judge(plain, sentence.markers, given, judge)
        checked_sentences.append(cited.sentence(plain, before, judged))
        skipped = 0
    return Checked(tuple(checked_sentences), tuple(cited.found), tuple(dict.fromkeys(rejected)))


def _addresses(given: Sequence[Given]) -> frozenset[str]:
    """Return the web addresses that documents give."""
    return frozenset(address for one in given for address in _ADDRESS.findall(one.evidence.text))


def _plain(text: str, addresses: frozenset[str]) -> str:
    """Return a sentence on one line, in which nothing is a link but what documents give."""
    return " ".join(_inactive(_without_addresses(text, addresses)).split())


def _judge(
    sentence: str, markers: Sequence[str], given: Sequence[Given], judge: ClaimJudge
) -> Judgement:
    """Judge a sentence by what it cites; one that cites nothing known by all that was given."""
    places = [one.place for one in given]
    numbers = {number for marker in markers for number in resolve(marker, places)}
    unknown = [marker for marker in markers if not resolve(marker, places)]
    problems = tuple(Problem(ProblemKind.MARKER, marker) for marker in unknown)
    cited = tuple(g.evidence for g in given if not numbers or g.place.number in numbers)
    others = tuple(g.evidence for g in given if numbers and g.place.number not in numbers)
    judged = judge(sentence, cited, others)
    if judged.support is Support.NOT_FOUND and not numbers:  # it names nothing to look at
        judged = replace(judged, spans=())
    return replace(judged, problems=(*judged.problems, *problems))


class _Citations:
    """Numbers quotations in the order in which they are first used, each looked up once.

    A quotation from outside what the model was given is none, whoever names it.
    """

    def __init__(self, lookup: Lookup, given: Sequence[Evidence], judge: ClaimJudge) -> None:
        self._lookup = lookup
        self._given = given
        self._judge = judge
        self._bodies: dict[str, Body | None] = {}
        self._known: dict[tuple[Quotation, Support], Citation | None] = {}
        self.found: list[Citation] = []

    def sentence(self, text: str, before: str, judged: Judgement) -> AnswerSentence:
        """Return a judged sentence with the numbers of its citations.

        What passes for found must be shown by what is quoted for it alone, so that whoever has
        only the quotations comes to the same.
        """
        support, shown = judged.support, self._verified(judged.spans[:_SPANS], judged.support)
        if support in FOUND and not shown:
            support = Support.NOT_FOUND
        elif support in FOUND and not self._agrees(text, support, shown):
            support, shown = self._shown(text, judged.spans[:_SPANS])
        numbers = tuple(map(self._number, shown))
        return AnswerSentence(
            text, numbers, support, judged.problems, before, checked_by=judged.model
        )

    def _shown(self, text: str, spans: Sequence[Quotation]) -> tuple[Support, tuple[Citation, ...]]:
        """Return what is found by quoting all that was given where ``spans`` stand."""
        for quoted in (spans, self._around(spans)):
            shown = self._verified(quoted, Support.SUPPORTED)
            if shown and self._agrees(text, Support.SUPPORTED, shown):
                return Support.SUPPORTED, shown
        return Support.NOT_FOUND, self._verified(spans, Support.NOT_FOUND)

    def _agrees(self, text: str, support: Support, shown: Sequence[Citation]) -> bool:
        languages = {
            name: document.language
            for name in {one.document_id for one in shown}
            if (document := self._lookup.document(name)) is not None
        }
        return agrees(text, support, shown, languages, self._judge)

    def _around(self, spans: Sequence[Quotation]) -> tuple[Quotation, ...]:
        """Return the whole of what was given where spans stand."""
        whole = (
            Quotation(one.document_id, one.start, one.end, one.text)
            for span in spans
            for one in self._given
            if _holds(one, span)
        )
        return tuple(dict.fromkeys(whole))

    def _verified(self, spans: Sequence[Quotation], support: Support) -> tuple[Citation, ...]:
        """Return citations of those spans that were given and stand in the stored text."""
        for span in spans:
            if (span, support) not in self._known:
                self._known[span, support] = self._checked(span, support)
        found = (self._known[span, support] for span in spans)
        return tuple(dict.fromkeys(one for one in found if one is not None))

    def _checked(self, span: Quotation, support: Support) -> Citation | None:
        document = self._lookup.document(span.document_id)
        if document is None or not self._was_given(span):
            return None
        if span.document_id not in self._bodies:
            self._bodies[span.document_id] = self._lookup.body(span.document_id)
        checked = verify(cite(document, span, 0, support), document, self._bodies[span.document_id])
        return checked if checked.verified else None

    def _number(self, citation: Citation) -> int:
        """Return the number of a citation, a new one where it is first shown."""
        known = (one.number for one in self.found if replace(one, number=0) == citation)
        number = next(known, len(self.found) + 1)
        if number > len(self.found):
            self.found.append(replace(citation, number=number))
        return number

    def _was_given(self, span: Quotation) -> bool:
        return any(_holds(one, span) for one in self._given)


def _holds(given: Evidence, span: Quotation) -> bool:
    inside = given.start <= span.start and span.end <= given.end
    return given.document_id == span.document_id and inside


def _sentences(text: str) -> Iterator[_Sentence]:
    """Yield the sentences of a model's Markdown, in order, each with the markers behind it."""
    visible = _without_tables(sanitise(text).text)
    for pattern, replacement in ((_IMAGE, ""), (_TAG, ""), (_LINK, r"\1")):
        visible = pattern.sub(replacement, visible)
    plain, markers = without_markers(_DEFINITION.sub("", visible))
    spans = list(_spans(plain))
    owners = _owners(spans, markers, plain)
    for index, (start, end, before) in enumerate(spans):
        yield _Sentence(plain[start:end].strip(), before, tuple(owners.get(index, ())))


def _without_tables(text: str) -> str:
    """Return Markdown whose tables are lists: the heading row in bold, and an item for each row."""
    if "|" not in text:
        return text
    lines = text.split("\n")
    prose: list[str] = []
    inside = False
    for number, line in enumerate(lines):
        following = lines[number + 1] if number + 1 < len(lines) else ""
        if inside and _is_delimiter(line):
            continue
        if "|" in line and _is_delimiter(following):
            inside = True
            prose.append(f"**{_row(line)}**")
        elif inside and "|" in line:
            prose.append(f"- {_row(line)}")
        else:
            inside = False
            prose.append(line)
    return "\n".join(prose)


def _is_delimiter(line: str) -> bool:
    return "|" in line and "-" in line and _DELIMITERS.issuperset(line)


def _row(line: str) -> str:
    cells = (cell.strip() for cell in line.strip().strip("|").split("|"))
    return " · ".join(cell for cell in cells if cell)


def _spans(plain: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and what stands before each sentence, line by line."""
    position = number = 0
    before = ""
    for line in plain.split("\n"):
        begin, mark, number = _line_mark(line, number)
        spans = list(sentence_spans(line, begin, len(line))) if line[begin:].strip() else []
        lead = f"{before or (chr(10) if position else '')}{mark}"
        for start, end in spans:
            yield position + start, position + end, lead
            lead = ""
        if spans:
            before = ""
        elif position:
            before = "\n\n"
        position += len(line) + 1


def _line_mark(line: str, number: int) -> tuple[int, str, int]:
    """Return where the text of a line begins, its list mark, and the last item's number.

    Only 1, or the number behind the last item's, counts items; "12. March" is a date.
    """
    match = _LINE_MARK.match(line)
    begin = match.end() if match else 0
    mark = "".join(f"{character} " for character in line[:begin] if character in _BULLETS)
    counted = _ENUMERATION.match(line, begin)
    if counted and int(counted.group(1)) in {1, number + 1}:
        return counted.end(), f"{mark}{counted.group().strip()} ", int(counted.group(1))
    return begin, mark, number


def _owners(
    spans: Sequence[tuple[int, int, str]], markers: Sequence[Marker], plain: str
) -> Mapping[int, list[str]]:
    """Give each marker to the sentence that ends where it stands, or holds it.

    A marker behind the full stop belongs to the sentence before the stop, and so does one on a
    line of its own; one that begins a line belongs to the sentence behind it.
    """
    found: dict[int, list[str]] = {}
    starts = [start for start, _, _ in spans]
    for marker in markers:
        position = len(plain[: marker.position].rstrip()) - 1
        if _begins_line(plain, marker.position):
            position = marker.position + len(_blank(plain[marker.position :]))
        owner = max(bisect_right(starts, max(position, 0)) - 1, 0)
        found.setdefault(owner, []).append(marker.written)
    return found


def _begins_line(plain: str, position: int) -> bool:
    """Whether nothing but a list mark stands before a place in its line, and text behind it."""
    before = plain[plain.rfind("\n", 0, position) + 1 : position]
    end = plain.find("\n", position)
    behind = plain[position : end if end >= 0 else len(plain)]
    return not any(map(str.isalpha, before)) and any(map(str.isalnum, behind))


def _blank(text: str) -> str:
    return text[: len(text) - len(text.lstrip())]


def _inactive(text: str) -> str:
    """Return a text in which nothing is a link, a definition of one, or a tag."""
    return _OPENED.sub("‹", _JOINED.sub("] ", text))


def _without_addresses(text: str, known: frozenset[str]) -> str:
    """Return a text without web addresses that no document gave: they could carry data away."""
    left = _ADDRESS.sub(
        lambda match: match.group() if match.group() in known else "(address left out)", text
    )
    # Brackets that only an address kept apart must not become a marker.
    return left if left == text else left.translate(_BRACKETS)
