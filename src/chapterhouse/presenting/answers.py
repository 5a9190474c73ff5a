"""An answer, the passages that come closest, or a refusal, as blocks."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from chapterhouse.presenting import wording
from chapterhouse.presenting.blocks import (
    Block,
    Bullets,
    CitationBlock,
    Line,
    Mark,
    Paragraph,
    Part,
    Sources,
    Style,
    Words,
    paragraph,
    plain,
)
from chapterhouse.presenting.citing import distinguish_sources
from chapterhouse.presenting.markdown import markdown
from chapterhouse.presenting.quoted import quoted_blocks, with_ending
from chapterhouse.types import (
    Answer,
    AnswerOutcome,
    AnswerSentence,
    Route,
    Searched,
    VersionDifference,
)

QUOTATION: Final = "quotation"
OTHERS: Final = "others"  # the part of weaker passages, which a page folds
_NEAREST: Final = "The closest passages:"
_SHOWN: Final = 3  # passages that a page shows at once: the others are weaker
# An answer is read as a whole, but on a page, where none of the closest passages is before others.
_UNMARKED: Final = (0, 0)
_NUMBER: Final = re.compile(r"\d{1,9}[.)]")


def answer_blocks(answer: Answer, *, apart: bool = False) -> Part:
    """Return what people are shown of an answer, in the order in which they read it.

    ``apart`` makes each quotation a part called ``QUOTATION`` and a number, whose last block is
    what is said about it: its citations, a note.
    """
    cited = distinguish_sources((str(one.number), one) for one in answer.citations)
    apart = apart and answer.method == "extractive" and bool(answer.sentences)
    kind, opening = QUOTATION if apart else "answer", tuple(_opening(answer, apart=apart))
    first, *rest = (tuple(blocks) for blocks in _body(answer, answer.sentences, apart=apart))
    quoted = (Part(f"{kind}-1", "", first),) if apart else ()
    head = Part("answer-1", "", opening if apart else (*opening, *first), quoted)
    others = (Part(f"{kind}-{number}", "", blocks) for number, blocks in enumerate(rest, start=2))
    shown = tuple(one for one in (head, *others) if one.blocks or one.parts)
    behind: tuple[tuple[Block, ...], ...] = (
        tuple(map(_versions_line, answer.versions)),
        (Sources(cited),) if cited else (),
        tuple(_remarks(answer, refused=not (answer.sentences or answer.found))),
        tuple(_closing(answer)),
    )
    numbered = enumerate(filter(None, behind), start=len(shown) + 1)
    below = tuple(Part(f"answer-{number}", "", blocks) for number, blocks in numbered)
    if answer.outcome is AnswerOutcome.PASSAGES and shown[_SHOWN:]:
        shown = (*shown[:_SHOWN], Part(OTHERS, "", parts=shown[_SHOWN:]))
    return Part("answer", answer.question, parts=(*shown, *below))


def written_blocks(sentences: Sequence[AnswerSentence]) -> Part:
    """Return sentences that a model wrote, without all that is said about them.

    ``answer_blocks`` of an answer that has them and no opening begins with the same.
    """
    searched = Searched(0, 0, (), (), ())
    answer = Answer("", AnswerOutcome.ANSWER, tuple(sentences), (), searched, 1.0, method="")
    found = tuple(block for blocks in _body(answer, sentences) for block in blocks)
    return Part("written", "", parts=(Part("written-1", "", found),))


def answer_markdown(answer: Answer) -> str:
    """Return an answer as Markdown with footnotes, ready to be pasted anywhere."""
    return markdown(answer_blocks(answer), titled=False)


def transcript_markdown(turns: Sequence[tuple[str, Answer]]) -> str:
    """Return questions as they were asked and their answers as a page of Markdown with footnotes.

    Footnotes are numbered through the page.
    """
    parts, count = [], 0
    for number, (asked, answer) in enumerate(turns, start=1):
        answer_parts = answer_blocks(_numbered_from(answer, count))
        count += len(answer.citations)
        taken = (_quiet(f"Taken as: {answer.question}"),) if asked != answer.question else ()
        parts.append(Part(f"turn-{number}", asked, taken, answer_parts.parts))
    return markdown(Part("conversation", "Conversation", parts=tuple(parts)))


def _numbered_from(answer: Answer, count: int) -> Answer:
    """Return an answer with the numbers of its citations behind ``count`` others."""
    return replace(
        answer,
        citations=tuple(replace(one, number=one.number + count) for one in answer.citations),
        sentences=tuple(
            replace(one, citations=tuple(number + count for number in one.citations))
            for one in answer.sentences
        ),
    )


def _opening(answer: Answer, *, apart: bool) -> Iterator[Block]:
    """Yield what a reader is to know first: who speaks, what is missing, how sure it is.

    What a page says as its outcome is not said twice there, where quotations stand ``apart``.
    """
    if answer.refreshed:
        yield _quiet(answer.refreshed)
    if answer.notice:
        yield paragraph(answer.notice, Style.STRONG)
    if answer.display_name and answer.sentences:
        yield _quiet(_speaker(answer))
    absent = wording.absent_sentence(answer.searched.missing_terms)
    if absent and answer.outcome is AnswerOutcome.PASSAGES:
        yield paragraph(absent, Style.STRONG)
    introduced = answer.notice.endswith(":")
    quoted = answer.method == "extractive"
    if answer.outcome is AnswerOutcome.PASSAGES and quoted and not (introduced or apart):
        yield paragraph(_NEAREST, Style.STRONG)
    elif answer.certainty == "likely" and answer.route is Route.ANSWERED and quoted:
        yield paragraph("This is likely the answer:", Style.STRONG)


def _speaker(answer: Answer) -> str:
    if answer.route is Route.GENERAL:
        return "The general assistant, from no document:"
    return f"{answer.display_name}, {wording.method(answer.method)}:"


# --- sentences ---------------------------------------------------------------------------------


def _body(
    answer: Answer, sentences: Sequence[AnswerSentence], *, apart: bool = False
) -> Iterator[Sequence[Block]]:
    """Yield the blocks of each part; lines of a quoted answer stand together where each is one."""
    blocks: list[Block] = []
    trust = {citation.number: citation.trust for citation in answer.citations}
    for sentence in sentences:
        levels = {trust[number] for number in sentence.citations if number in trust}
        after = _after(sentence, wording.trust_mark(levels))
        if answer.method != "extractive" and "\n" not in sentence.text:
            blocks = _written(blocks, sentence, after)
            continue
        is_marked = apart == (answer.outcome is AnswerOutcome.ANSWER)
        marked = sentence.key_span if is_marked else _UNMARKED
        if apart:
            yield (*quoted_blocks(sentence.text, marked), Paragraph(after))
            continue
        found = quoted_blocks(sentence.text, marked, after)
        if blocks and (found[1:] or answer.outcome is AnswerOutcome.PASSAGES):
            yield blocks
            blocks = []
        blocks += found
    yield blocks


def _written(blocks: list[Block], sentence: AnswerSentence, after: Line) -> list[Block]:
    """Return blocks with a sentence of a model behind them, where its Markdown put it."""
    words: Line = (Words(sentence.text), *after)
    *marks, mark = sentence.before.split() or [""]
    if mark:
        item = Mark(len(marks), mark if _NUMBER.fullmatch(mark) else "")
        last = blocks[-1] if blocks else None
        if isinstance(last, Bullets) and "\n\n" not in sentence.before:
            return [*blocks[:-1], Bullets((*last.lines, words), (*last.marks, item))]
        return [*blocks, Bullets((words,), (item,))]
    if blocks and "\n" not in sentence.before:
        return list(with_ending(tuple(blocks), (Words(" "), *words)))
    return [*blocks, Paragraph(words)]


def _after(sentence: AnswerSentence, trust: str) -> Line:
    names = tuple(map(str, sentence.citations))
    cited: Line = (CitationBlock(names),) if names else ()
    opinion = sentence.opinion
    notes = filter(None, (sentence.note, trust, wording.opinion_mark(opinion)))
    note: Line = tuple(Words(f" ({text})", Style.QUIET) for text in notes)
    if opinion is not None and opinion.citation:
        note = (*note, CitationBlock((str(opinion.citation),)))
    mark = wording.mismatch_mark(sentence.mismatches)
    return (*cited, *note, *((Words(f" ({mark})", Style.WARNING),) if mark else ()))


def _versions_line(difference: VersionDifference) -> Paragraph:
    """Return in what versions of a document differ, both sides cited."""
    newer, older = (
        wording.join_words([f"“{value}”" for value in side])
        for side in zip(*difference.values, strict=True)
    )
    opening, between = (
        ("Versions differ: the newer one has", ", the older one")
        if difference.ordered
        else ("Versions differ, and which is newer cannot be told:", " and")
    )
    first, second = CitationBlock((str(difference.newer),)), CitationBlock((str(difference.older),))
    return Paragraph((Words(f"{opening} {newer}"), first, Words(f"{between} {older}"), second))


# --- beside the answer -------------------------------------------------------------------------


def _remarks(answer: Answer, *, refused: bool) -> Iterator[Block]:
    """Yield what was not found; of a refusal that is all there is to read."""
    searched, style = answer.searched, Style.PLAIN if refused else Style.QUIET
    if refused and not answer.notice:
        yield paragraph(
            "I don't find this in the documents; it may be there in other words.", Style.STRONG
        )
    if refused:
        terms = wording.join_words(searched.terms) or "nothing"
        yield paragraph(f"Searched {_searched(answer)}, for: {terms}")
    absent = wording.absent_sentence(searched.missing_terms)
    for line in wording.reservations(searched):
        if line != absent or answer.outcome is AnswerOutcome.NOT_FOUND:
            yield paragraph(line, style)
    if answer.rejected and not refused:
        named = wording.join_words(answer.rejected)
        yield _quiet(f"Left out, because it cites nothing that the model was given: {named}")
    if searched.nearest and refused:
        yield paragraph("Nearest headings:")
        yield Bullets(tuple(map(plain, searched.nearest)))


def _closing(answer: Answer) -> Iterator[Block]:
    for warning in answer.warnings:
        yield paragraph(warning, Style.WARNING)
    if answer.sentences or answer.found:
        facts = [answer.certainty, wording.method(answer.method), f"searched {_searched(answer)}"]
        if answer.cached:
            facts.append("written earlier, nothing has changed since")
        elif answer.usage is not None:
            facts.append(wording.usage_text(answer.usage))
        yield _quiet(" · ".join(filter(None, facts)))


def _searched(answer: Answer) -> str:
    return wording.searched_text(answer.searched.documents, answer.searched.chunks)


def _quiet(text: str) -> Paragraph:
    return paragraph(text, Style.QUIET)
