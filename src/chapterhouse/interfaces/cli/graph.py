"""Commands about who and what documents speak of, and what they mean."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Final

from chapterhouse import lazy
from chapterhouse.interfaces.cli.options import argument, destination, group, option, readable
from chapterhouse.interfaces.cli.progress import interruptible
from chapterhouse.interfaces.cli.session import NO_ANSWER, OK, Outcome, opened_library
from chapterhouse.interfaces.cli.settings import user_name
from chapterhouse.presenting.blocks import Style, TerminalBlock, table, verbatim
from chapterhouse.presenting.styled import one_line
from chapterhouse.text.counting import counted
from chapterhouse.types import Progress
from chapterhouse.types.graph import (
    Entity,
    EntityPage,
    EntityPath,
    EntitySentence,
    NameDecision,
    RelatedEntity,
)

if TYPE_CHECKING:
    from chapterhouse.library import Library
    from chapterhouse.presenting import graph_files
else:
    graph_files = lazy("chapterhouse.presenting.graph_files")

app = group("Show who and what the documents speak of, with the sentences.")

_EVERY: Final = 10**9
_EXAMPLE: Final = "graph.graphml"

Name = Annotated[list[str], argument("NAME...", "A name, as the documents have it.")]


@app.command("entities")
def list_entities(
    text: Annotated[list[str] | None, argument("[TEXT...]", "Words of a name; else all.")] = None,
    *,
    kind: Annotated[
        str,
        option(
            "--kind",
            "KIND",
            "Only person, organization, location, product, technology or concept.",
        ),
    ] = "",
    limit: Annotated[int, option("--limit", "N", "At most so many.", least=1, most=10_000)] = 50,
) -> Outcome:
    """List people, organizations, places and things, those that most documents name first.

    Exit code 6 says that there are none.
    """
    with _read_library() as library:
        found = library.graph.entities(readable(*(text or ())), kind=kind, limit=limit)
        shown = list(_table(found.entities))
        if found.total > len(found.entities):
            more = counted(found.total - len(found.entities), "more entity", "more entities")
            shown.append(verbatim((f"{more}: --limit {found.total}", Style.QUIET)))
        return Outcome(found, shown, OK if found.entities else NO_ANSWER)


@app.command()
def show(
    name: Name,
    *,
    limit: Annotated[int, option("--limit", "N", "Sentences, at most.", least=1, most=1_000)] = 20,
) -> Outcome:
    """Show each sentence that names somebody or something, and whom it stands with."""
    with _read_library() as library:
        found = library.graph.show(readable(*name), sentences=limit)
        return Outcome(found, _page(found))


@app.command()
def related(
    name: Name,
    *,
    limit: Annotated[int, option("--limit", "N", "Names, at most.", least=1, most=1_000)] = 20,
) -> Outcome:
    """Show what somebody or something is to others, whom it stands with, and in which documents."""
    with _read_library() as library:
        found = library.graph.show(readable(*name), sentences=0, related=limit, documents=10)
        return Outcome(found, _page(found))


@app.command()
def path(
    source: Annotated[str, argument("FROM", "A name, as the documents have it.")],
    target: Annotated[str, argument("TO", "Another one.")],
) -> Outcome:
    """Show the shortest way from one name to another, each step with its sentence.

    Exit code 6 says that there is none of at most three steps.
    """
    with _read_library() as library:
        found = library.graph.path(readable(source), readable(target))
        return Outcome(found, _path(found), OK if found.steps else NO_ANSWER)


@app.command()
def export(
    file: Annotated[str, argument("FILE", "Ends with .graphml, .jsonld or .cypher.")],
) -> Outcome:
    """Write all entities and links into a file for other programs."""
    form = file.rpartition(".")[2].lower()
    writer = graph_files.writer(form)
    place = destination(file, "the graph", _EXAMPLE, graph_files.is_ours)
    with _read_library() as library:
        entities = library.graph.entities(limit=_EVERY).entities
        links = library.graph.links(entities)
        place.write_text(writer(entities, links), "utf-8")
    what = f"{counted(len(entities), 'entity', 'entities')}, {counted(len(links), 'link')}"
    result = {"file": str(place), "entities": len(entities), "links": len(links)}
    return Outcome(result, [verbatim(f"Wrote {one_line(str(place))}: {what}.")])


@app.command()
def merge(
    name: Annotated[str, argument("NAME", "A name, as the documents have it.")],
    other: Annotated[str, argument("OTHER", "The one that it is another name of.")],
) -> Outcome:
    """Decide that two names mean one, for all documents, also those to come."""
    with _read_library() as library:
        found = library.graph.merge(readable(name), readable(other), user_name())
        return Outcome(found, _decided(found))


@app.command()
def split(name: Name) -> Outcome:
    """Decide that a name stands alone; of an entity's own name, that all its others do."""
    with _read_library() as library:
        found = library.graph.split(readable(*name), user_name())
        return Outcome(found, _decided(found))


@app.command()
def undo(
    name: Annotated[
        list[str] | None, argument("[NAME...]", "A name; without, what was decided is listed.")
    ] = None,
) -> Outcome:
    """Take back what was decided about a name by graph merge or graph split."""
    with _read_library() as library:
        if name:
            library.graph.undo(readable(*name))
        found = library.graph.decisions()
        return Outcome(found, _decided(found))


def _decided(found: tuple[NameDecision, ...]) -> Iterator[TerminalBlock]:
    return table(
        found,
        ("name", lambda one: one_line(one.name)),
        ("means", lambda one: one_line(one.entity if one.entity != one.name else "itself")),
        ("by", lambda one: one_line(one.decided_by)),
        none="Nobody decided anything about names.",
    )


@contextmanager
def _read_library() -> "Iterator[Library]":
    """Open the library, read what is not read for names yet, and show how far that is."""
    with opened_library() as library:
        with interruptible() as follow:
            total = 0

            def on_progress(left: int) -> None:
                nonlocal total
                total = max(total, left)
                follow(Progress(done=total - left, total=total, current="names"))

            library.graph.fill(on_progress=on_progress)
        yield library


def _table(found: tuple[Entity, ...]) -> Iterator[TerminalBlock]:
    return table(
        found,
        ("name", lambda one: one_line(one.name)),
        ("kind", lambda one: one.kind.value),
        ("documents", lambda one: one.documents),
        ("sentences", lambda one: one.sentences),
        ("also", lambda one: one_line(", ".join(one.names[1:4]))),
        none="No document names anybody or anything.",
    )


def _page(found: EntityPage) -> Iterator[TerminalBlock]:
    entity = found.entity
    facts = [
        entity.kind.value,
        counted(entity.documents, "document"),
        counted(entity.sentences, "sentence"),
    ]
    yield verbatim((one_line(entity.name), Style.TITLE))
    yield verbatim((" · ".join(facts), Style.QUIET))
    reasons = {one.name: f" ({one.reason})" for one in entity.merged}
    names = dict.fromkeys([*entity.names, *reasons])
    others = [f"{one_line(one)}{reasons.get(one, '')}" for one in names if one != entity.name]
    if others:
        yield verbatim((f"Also written {', '.join(others)}", Style.QUIET))
    for one in found.sentences:
        yield verbatim()
        yield from _sentence(one)
    if found.related:
        yield verbatim()
        yield verbatim(("Related", Style.STRONG))
        for group in found.related_by_sentence:
            yield from map(_related, group)
            evidence = group[0].evidence
            yield from (
                (_place(evidence, 2),) if evidence in found.sentences else _sentence(evidence, 2)
            )
    if found.documents:
        yield verbatim()
        yield verbatim(("Documents", Style.STRONG))
    for document in found.documents:
        number = counted(document.sentences, "sentence")
        name = one_line(document.title or document.source)
        yield verbatim(name, (f"  {number} · {one_line(document.source)}", Style.QUIET), indent=1)


def _path(found: EntityPath) -> Iterator[TerminalBlock]:
    if not found.steps:
        yield verbatim(
            f"No way of at most three steps leads from {one_line(found.source.name)}"
            f" to {one_line(found.target.name)}."
        )
        return
    yield verbatim((one_line(found.source.name), Style.TITLE))
    for step in found.steps:
        yield _related(step)
        yield from _sentence(step.evidence, 2)


def _related(one: RelatedEntity) -> TerminalBlock:
    number = counted(one.together, "sentence")
    words = (f"{one.words} ", Style.STRONG) if one.words else ""
    return verbatim(words, one_line(one.entity.name), (f"  {number}", Style.QUIET), indent=1)


def _sentence(one: EntitySentence, indent: int = 0) -> Iterator[TerminalBlock]:
    yield verbatim(one_line(one.text), indent=indent)
    yield _place(one, indent)


def _place(one: EntitySentence, indent: int) -> TerminalBlock:
    page = "" if one.page is None else f" · page {one.page}"
    place = f"{one_line(one.source)}{page} · characters {one.start}–{one.end}"
    return verbatim((place, Style.QUIET), indent=indent)
