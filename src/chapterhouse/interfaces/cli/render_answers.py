"""What people see of a question: hits, answers, and the place that a citation opens."""

from typing import TYPE_CHECKING

from chapterhouse.answering import footnotes
from chapterhouse.answering.footnotes import citation_line, conflict_lines, mark_of
from chapterhouse.interfaces.cli.shapes import Place
from chapterhouse.interfaces.cli.terminal import indented, one_line, shown, styled
from chapterhouse.types import Answer, Body, Citation, Context, Hit, Route, SearchResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console
    from rich.text import Text

_HASH_DIGITS = 12
_WORD, _WORDS = 60, 40  # longest word shown, and most of them
_REPEATS = 5  # of a passage that are named


def search(target: "Console", result: SearchResult, *, explain: bool) -> None:
    """Show hits, best first, with their text."""
    for hit in result.hits:
        _hit(target, hit, explain=explain)
    searched = _searched(result.documents, result.chunks)
    if not result.hits:
        target.print(styled(("Nothing found.", "bold"), f" Searched {searched}."))
    _warnings(target, result.warnings)
    if explain:
        for number, variant in enumerate(result.variants[1:], start=1):
            why = f" ({one_line(variant.note)})" if variant.note else ""
            said = f"variant {number}, {variant.kind.value}, weight {variant.weight:g}: "
            target.print(styled(said, one_line(variant.text), (why, "dim")))
    if explain or not result.hits:
        target.print(styled("terms: ", ", ".join(result.terms) or "none"))
        stemmers = [name or "other" for name in result.languages]
        target.print(styled("stemmers: ", ", ".join(stemmers) or "none"))
        target.print(styled("to the letter: ", ", ".join(result.exact) or "nothing"))
    if result.hits:
        count = _counted(len(result.hits), "passage")
        target.print(styled((f"{count} from {searched}", "dim")))


def context(target: "Console", value: Context) -> None:
    """Print the Markdown as it is, and below it, apart, what it cost."""
    if value.excerpts:
        target.out(shown(value.markdown), highlight=False)
    _warnings(target, value.warnings)
    if not value.excerpts:
        target.print(styled((_nothing(value), "bold")))
        return
    facts = [
        f"{value.tokens:,} of {value.maximum:,} tokens",
        f"{_counted(len(value.excerpts), 'excerpt')} of {_counted(len(value.sources), 'document')}",
        f"{value.information_gain:.0%} of the value found",
    ]
    target.print(styled((" · ".join(facts), "dim")))


def _nothing(value: Context) -> str:
    if not value.candidates:
        return "Nothing found."
    return (
        f"Something was found, but no sentence of it fits into {_counted(value.maximum, 'token')}."
    )


def _warnings(target: "Console", warnings: "Sequence[str]") -> None:
    for warning in warnings:
        target.print(styled((one_line(warning), "yellow")))


def _searched(documents: int, chunks: int) -> str:
    return f"{_counted(documents, 'document')}, {_counted(chunks, 'chunk')}"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _hit(target: "Console", hit: Hit, *, explain: bool) -> None:
    chunk = hit.chunk
    where = _where(hit.document.page_kind, chunk.page, chunk.page_label)
    target.print(
        styled(
            (f"{hit.rank}. ", "bold"),
            (_path(hit.document.title, chunk.section_path), "bold cyan"),
            (f"  {hit.score:.3f}", "dim"),
        )
    )
    facts = [hit.document.source, *where, f"characters {chunk.start}–{chunk.end}"]
    indented(target, styled((" · ".join(map(one_line, facts)), "dim")), 3)
    if chunk.header:
        indented(target, styled((chunk.header.strip(), "dim")), 3)
    indented(target, chunk.text.strip(), 3)
    if hit.repeats:
        indented(target, styled((f"said again in: {_some(hit.repeats, _REPEATS)}", "dim")), 3)
    if explain:
        for stage, value in hit.stages.items():
            indented(target, f"{one_line(stage)}: {value:.6g}", 3)
    target.print()


def answer(target: "Console", value: Answer, options: str = "") -> None:
    """Show an answer and its numbered sources, or what was searched in vain.

    ``options`` are those that a command needs to open the same library.
    """
    if value.refreshed:
        target.print(styled((one_line(value.refreshed), "dim")))
    if value.notice:
        target.print(styled((one_line(value.notice), "bold")))
    if value.sentences:
        _told(target, value)
    if not value.found:
        _refusal(target, value)
    _conflicts(target, value)
    if value.citations:
        target.print(styled(("Sources", "bold")))
    for citation in value.citations:
        source(target, citation, options)
    _remarks(target, value)
    if value.found or value.sentences:
        target.print(styled((" · ".join(_facts(value)), "dim")))


def _conflicts(target: "Console", value: Answer) -> None:
    for conflict in value.conflicts:
        one, other, verdict = conflict_lines(conflict)
        target.print(styled(("Sources disagree", "bold yellow"), f" ({conflict.kind.value})"))
        for line in (one, other, verdict):
            indented(target, one_line(line))
        target.print()


def _remarks(target: "Console", value: Answer) -> None:
    if value.found and value.searched.missing_terms:
        missing = _listed(value.searched.missing_terms)
        target.print(styled((f"Words that stand in none of the documents: {missing}", "dim")))
    if value.rejected:
        rejected = _listed(value.rejected)
        target.print(styled((f"Left out, for it cites nothing that was given: {rejected}", "dim")))
    _warnings(target, value.warnings)


def answer_markdown(target: "Console", value: Answer, _options: str = "") -> None:
    """Print an answer as Markdown with footnotes."""
    target.out(shown(footnotes.answer_markdown(value)), highlight=False, end="")


def _told(target: "Console", value: Answer) -> None:
    """Show the sentences, each with its numbers and with what a reader is warned of."""
    if value.display_name:
        target.print(styled((_frame(value), "italic")))
    parts: list[str | tuple[str, str]] = []
    for place, sentence in enumerate(value.sentences):
        before = sentence.before or (" " if place and value.method != "extractive" else "")
        if value.method == "extractive" and place:
            before = "\n"
        numbers = "".join(f" [{number}]" for number in sentence.citations)
        mark = mark_of(sentence) if value.route is not Route.GENERAL else ""
        parts += [
            before if place else before.lstrip("\n"),
            one_line(sentence.text),
            (numbers, "bold"),
            (f" ({mark})" if mark else "", "yellow"),
        ]
    target.print(styled(*parts))
    target.print()


def _frame(value: Answer) -> str:
    """Return who speaks, and whether in words of their own or of their documents."""
    name = one_line(value.display_name)
    if value.route is Route.GENERAL:
        return "The general assistant, from no document:"
    if value.method == "extractive":
        return f"{name} quotes from their documents (no model):"
    return f"{name}, by {one_line(value.method)}:"


def _facts(value: Answer) -> list[str]:
    searched = _searched(value.searched.documents, value.searched.chunks)
    facts = [f"confidence {value.confidence:.2f}", one_line(value.method), f"searched {searched}"]
    usage = value.usage
    if value.kept:
        facts.append("written earlier, nothing has changed since")
    elif usage is not None:
        facts.append(f"{usage.prompt_tokens:,} + {usage.completion_tokens:,} tokens")
        if usage.cost is not None:
            facts.append(f"${usage.cost:.4f}")
    return facts


def source(target: "Console", citation: Citation, options: str) -> None:
    """Show a numbered source with its quotation, and the command that opens it."""
    target.print(
        styled((f"[{citation.number}] ", "bold"), (one_line(citation_line(citation)), "bold cyan"))
    )
    facts = [
        citation.source,
        f"characters {citation.start}–{citation.end}",
        f"sha256 {citation.text_sha256[:_HASH_DIGITS]}",
    ]
    verdict = ("verified", "green") if citation.verified else ("NOT VERIFIED", "bold red")
    indented(target, styled((" · ".join(map(one_line, facts)) + " · ", "dim"), verdict))
    indented(target, f"“{citation.quote}”")
    if citation.link:
        indented(target, styled((one_line(citation.link), "dim")))
    opens = f"chapterhouse docs show {citation.document_id} --span {citation.start}:{citation.end}"
    indented(target, styled((opens + options, "dim")))
    target.print()


def _refusal(target: "Console", value: Answer) -> None:
    searched = value.searched
    if not value.notice:
        target.print(styled(("I don't find this in the documents.", "bold")))
    target.print(
        styled(
            f"Searched {_searched(searched.documents, searched.chunks)}, for: ",
            _listed(searched.terms) or "nothing",
        )
    )
    if searched.missing_terms:
        missing = _listed(searched.missing_terms)
        target.print(styled(f"Words that stand in none of them: {missing}"))
    if searched.nearest:
        target.print(styled("Nearest headings:"))
        for heading in searched.nearest:
            target.print(styled(f"  {one_line(heading)}"))
    if value.would_help:
        target.print(styled("What would help:"))
        for line in value.would_help:
            target.print(styled(f"  {one_line(line)}"))


def _listed(words: "Sequence[str]") -> str:
    """Join words for people: what was pasted by mistake may be as long as a book."""
    cut = [word if len(word) <= _WORD else f"{word[:_WORD]}…" for word in map(one_line, words)]
    return _some(cut, _WORDS)


def _some(names: "Sequence[str]", most: int) -> str:
    rest = f", and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + rest


def place(target: "Console", value: Place) -> None:
    """Show a stretch of a document amid what stands around it."""
    facts = [
        value.document.source,
        *_where(value.document.page_kind, value.page, value.page_label),
        f"characters {value.start}–{value.end}",
        f"sha256 {value.document.text_sha256[:_HASH_DIGITS]}",
    ]
    target.print(styled((_path(value.document.title, value.section_path), "bold cyan")))
    target.print(styled((" · ".join(map(one_line, facts)), "dim")))
    target.print()
    target.print(_framed(target, value))


def _framed(target: "Console", value: Place) -> "Text":
    """Set the span off by colour, or by marks where there is none."""
    opening, closing = ("", "") if target.is_terminal and not target.no_color else ("»", "«")
    return styled(
        (value.before, "dim"),
        (f"{opening}{value.text}{closing}", "bold reverse" if not opening else ""),
        (value.after, "dim"),
    )


def text(target: "Console", body: Body) -> None:
    """Print the whole canonical text, safe to show."""
    target.out(shown(body.text), highlight=False, end="" if body.text.endswith("\n") else "\n")


def _path(title: str, section_path: tuple[str, ...]) -> str:
    """Join a title and its sections; the outermost heading often is the title again."""
    rest = section_path[1:] if section_path[:1] == (title,) else section_path
    return one_line(" › ".join((title, *rest)))


def _where(kind: str, number: int | None, label: str) -> list[str]:
    if number is None:
        return []
    # A sheet is known by its name; a slide or page by its number.
    if kind == "sheet" and label:
        return [f"sheet {label}"]
    return [f"{kind or 'page'} {number}"]
