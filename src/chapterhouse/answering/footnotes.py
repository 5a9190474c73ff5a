"""An answer as Markdown, with numbered footnotes that name and quote their sources.

What documents say is escaped: nothing of theirs can become a link, an image, a heading or a
footnote of ours.
"""

import re
from typing import Final

from chapterhouse.types import Answer, AnswerSentence, Citation, Conflict, Route, Support

# Also what many renderers make links of by themselves: https://, www. and the like.
_SPECIAL: Final = re.compile(r"([\\`*_\[\]|<>~$^&@]|:(?=//)|(?<=www)\.)", re.IGNORECASE)
# At the beginning of a line: a heading, a list, a rule.
_LEADING: Final = re.compile(r"^(\d{0,9})([#+=.)-])")
_MARKS: Final = {
    Support.PARTLY: "partly supported",
    Support.MISATTRIBUTED: "supported by another document than it named",
    Support.FRANKENQUOTE: "stitched from separate quotations",
    Support.UNSUPPORTED: "not supported by the documents",
    Support.FABRICATED: "cites what does not exist",
}


def mark_of(sentence: AnswerSentence) -> str:
    """Return what a reader is warned of beside a sentence; empty where all is well."""
    return support_mark(sentence.support)


def support_mark(support: Support) -> str:
    """Return what a reader is warned of where something is carried so far; or empty."""
    return _MARKS.get(support, "")


def citation_line(citation: Citation) -> str:
    """Return title, year, section and page of a citation, as in ``Guide (2024), §Setup, page 3``.

    The outermost heading is left out where it is the title again.
    """
    year = f" ({citation.year})" if citation.year else ""
    path = citation.section_path
    path = path[1:] if path[:1] == (citation.title,) else path
    parts = [f"{citation.title or citation.source}{year}"]
    parts += [f"§{' › '.join(path)}"] if path else []
    parts += [place] if (place := page_of(citation)) else []
    return ", ".join(" ".join(part.split()) for part in parts)


def page_of(citation: Citation) -> str:
    """Return the page, slide or sheet of a citation as people call it, or empty."""
    if citation.page is None:
        return ""
    if citation.page_kind == "sheet" and citation.page_label:
        return f"sheet {citation.page_label}"
    return f"{citation.page_kind or 'page'} {citation.page}"


def answer_markdown(answer: Answer) -> str:
    """Return an answer as Markdown with footnotes, ready to be pasted anywhere."""
    parts = [f"> {escaped(answer.notice)}"] if answer.notice else []
    marked = answer.route is not Route.GENERAL  # of which the notice says all there is to say
    told = "".join(
        _sentence(sentence, follows=bool(number), marked=marked)
        for number, sentence in enumerate(answer.sentences)
    ).strip()
    if told:
        parts.append(told)
    parts += [f"- {escaped(line)}" for line in answer.would_help]
    if answer.conflicts:
        parts.append("**Sources disagree**")
        parts += [
            "\n".join(f"- {escaped(line)}" for line in conflict_lines(conflict))
            for conflict in answer.conflicts
        ]
    parts += [footnote(citation) for citation in answer.citations]
    return "\n\n".join(parts) + "\n"


def conflict_lines(conflict: Conflict) -> tuple[str, str, str]:
    """Return what each side of a disagreement says, and which of the two is newer."""
    one, other = (
        f"{side.value} according to {side.title} ({side.date or 'undated'}): "
        f"“{' '.join(side.span.quote.split())}”"
        for side in conflict.sides
    )
    first, second = (side.date for side in conflict.sides)
    if conflict.newer:
        verdict = f"The one of {first} is newer."
    elif first and second:
        verdict = "Their dates do not tell which is newer."
    else:
        verdict = "Which is newer cannot be told: not both state a date."
    return one, other, verdict


def escaped(text: str) -> str:
    """Return text that Markdown shows as it stands."""
    line = _SPECIAL.sub(r"\\\1", " ".join(text.split()))
    return _LEADING.sub(r"\1\\\2", line)


def _sentence(sentence: AnswerSentence, *, follows: bool, marked: bool) -> str:
    numbers = "".join(f"[^{number}]" for number in sentence.citations)
    mark = mark_of(sentence) if marked else ""
    warning = f" *({mark})*" if mark else ""
    before = sentence.before or (" " if follows else "")
    return f"{before}{escaped(sentence.text)}{numbers}{warning}"


def footnote(citation: Citation, name: str = "") -> str:
    """Return the footnote of a citation; ``name`` is what it is called, else its number."""
    link = f" <{citation.link}>" if citation.link else ""
    quote = escaped(citation.quote)
    return (
        f"[^{name or citation.number}]: {escaped(citation_line(citation))}.{link} “{quote}” "
        f"(cited as {escaped(citation.marker)}; {escaped(citation.source)}, "
        f"characters {citation.start}–{citation.end}, SHA-256 {escaped(citation.text_sha256[:12])})"
    )
