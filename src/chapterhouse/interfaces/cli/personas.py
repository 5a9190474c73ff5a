"""Commands about personas: new, list, show, validate, remove, update, docs."""

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from chapterhouse import lazy
from chapterhouse.agents.curated import Outcome as Curation
from chapterhouse.agents.problems import errors
from chapterhouse.interfaces.cli import registries, render
from chapterhouse.interfaces.cli.envelope import plain
from chapterhouse.interfaces.cli.options import (
    DryRun,
    Yes,
    argument,
    flag,
    group,
    option,
    reopening,
    require_path,
)
from chapterhouse.interfaces.cli.progress import show_progress
from chapterhouse.interfaces.cli.registries import (
    Noun,
    Rows,
    documents_data,
    folder_named,
    show_documents,
    show_refresh,
)
from chapterhouse.interfaces.cli.session import (
    OK,
    PARTLY,
    Outcome,
    confirm,
    console,
    may_ask,
    opened_library,
    require_yes,
)
from chapterhouse.presenting.blocks import Style, TerminalBlock, verbatim
from chapterhouse.presenting.styled import one_line
from chapterhouse.presenting.terminal import draw
from chapterhouse.store.definitions import CONFIG_FILE, PROSE_FILE, RAW
from chapterhouse.text.counting import counted

if TYPE_CHECKING:
    from chapterhouse.agents.listing import FileListing
    from chapterhouse.agents.persona import PersonaFolder
    from chapterhouse.agents.personas import Personas, PersonaUpdate
    from chapterhouse.agents.profile import Proposal
    from chapterhouse.interfaces import values
else:
    values = lazy("chapterhouse.interfaces.values")

app = group("Make, describe, validate and update personas.")

Who = Annotated[str, argument("SLUG", "A persona: their slug, the beginning of it, or their name.")]


@app.command()
def new(
    slug: Annotated[str, argument("SLUG", "Lower-case letters, digits and single hyphens.")],
    *,
    name: Annotated[str, option("--name", "NAME", "How they are called; else the slug.")] = "",
    template: Annotated[
        str,
        option(
            "--template",
            "NAME",
            "What to start from: expert, advisor, archivist, teacher or blank.",
        ),
    ] = "expert",
    folder: Annotated[
        list[str] | None,
        option("--folder", "PATH", "A folder elsewhere whose documents are theirs; repeatable."),
    ] = None,
) -> Outcome:
    """Make a persona's folder, with a description and a configuration to fill in.

    In a folder that is there already only what is missing is made.
    """
    folders = [folder_named(path) for path in folder or ()]
    with opened_library(create=True) as library:
        personas = library.personas
        made = personas.create(slug, display_name=name, template=template, folders=folders)
        wrong = errors(personas.validate(slug))
    again = reopening()
    steps = {
        "Say who they are, in": str(made.path / PROSE_FILE),
        f"Drop documents, or a .links list of web pages, into {RAW}/, or name them": (
            f"chapterhouse persona update {made.slug} --file PATH{again}"
        ),
        "Read everything and let the documents propose a profile": (
            f"chapterhouse persona update {made.slug}{again}"
        ),
    }
    return registries.made(PERSONAS, made, steps, wrong)


@app.command("list")
def list_personas() -> Outcome:
    """List the personas, also those that cannot be used, with the reason."""
    return registries.list_all(PERSONAS)


@app.command()
def show(slug: Who) -> Outcome:
    """Show what is known of a persona: who they are, their field, their documents."""
    return registries.show(PERSONAS, slug)


@app.command()
def validate(
    slug: Annotated[str | None, argument("[SLUG]", "A persona; all when left out.")] = None,
) -> Outcome:
    """Name everything wrong in a persona's folder, by file, key and reason.

    Exit code 1 says that there are errors; warnings alone end with 0.
    """
    return registries.validate(PERSONAS, slug)


@app.command("remove")
def remove_persona(slug: Who, *, yes: Yes = False, dry_run: DryRun = False) -> Outcome:
    """Remove a persona with what is theirs: documents and remembered answers.

    Their folder is moved aside and can be moved back. It says what goes and asks first; off a
    terminal, and with --json, it does nothing without --yes: exit code 10.
    """
    return registries.remove(PERSONAS, slug, yes=yes, dry_run=dry_run)


@app.command()
def update(
    slug: Who,
    *,
    file: Annotated[
        list[str] | None, option("--file", "FILE", "Copy a file into RAW-DOCS first; repeatable.")
    ] = None,
    url: Annotated[
        list[str] | None,
        option(
            "--url",
            "URL",
            "List and fetch a page first; repeatable. With --file NAME it is stored as NAME.",
        ),
    ] = None,
    yes: Annotated[bool, flag("--yes", "Accept the profile without asking.")] = False,
    dry_run: DryRun = False,
) -> Outcome:
    """Read a persona's documents again and propose a profile.

    All pages of their .links lists are fetched again and everything is read anew; with --file or
    --url only what is new. The profile (tags, expertise, key terms, other names) is shown and
    written only when accepted. Exit code 4 says that something could not be read.
    """
    with PERSONAS.opened() as library:
        personas = library.personas
        files, urls = [Path(require_path(path)) for path in file or ()], tuple(url or ())
        if (
            len(files) == len(urls) == 1
            and files[0].name == str(files[0])
            and not files[0].exists()
        ):
            files, urls = [], (f"{urls[0]} | {files[0]}",)
        with show_progress() as on_progress:
            done = personas.update(
                slug, files=files, urls=urls, on_progress=on_progress, dry_run=dry_run
            )
        asked = not (dry_run or yes) and may_ask()
        if done.proposal and not dry_run and (yes or (asked and _accepts(done.proposal))):
            personas.accept(done.slug, done.proposal)
            done = done.as_accepted()
        return Outcome(
            {**plain(done), "dry_run": dry_run},
            _show_update(done, dry_run=dry_run, shown=asked),
            _update_code(done),
        )


app.command("train", hidden=True)(update)  # as another system calls it


@app.command()
def docs(
    slug: Who,
    *,
    remove: Annotated[
        str, option("--remove", "NAME", "Take one file out of the index, and keep it out.")
    ] = "",
    restore: Annotated[str, option("--restore", "NAME", "Take a removed file in again.")] = "",
    yes: Yes = False,
    dry_run: DryRun = False,
) -> Outcome:
    """List a persona's documents: what is indexed, and why something is not.

    --remove takes a file out of the index and leaves it where it is. It asks first; off a
    terminal, and with --json, it does nothing without --yes: exit code 10.
    """
    if remove and restore:
        raise typer.BadParameter("--remove and --restore exclude each other.")

    with PERSONAS.opened() as library:
        personas = library.personas
        if not remove and not restore:
            listed = personas.documents(slug)
            return Outcome(documents_data(listed), show_documents(listed, f"{RAW}/."))
        chosen = personas.chosen(slug, remove or restore)
        if not dry_run:
            if remove and not yes:
                require_yes(f"Take {chosen.source} out of the index")
            _move(personas, slug, chosen, out=bool(remove))
        data = {"file": chosen, "removed": bool(remove), "dry_run": dry_run}
        name = personas.resolve(slug)
        again = f"chapterhouse persona docs {name} --restore {shlex.quote(chosen.source)}"
        return Outcome(
            data,
            _show_moved(chosen, again + reopening(), out=bool(remove), dry_run=dry_run),
        )


def _accepts(proposal: "Proposal") -> bool:
    """Show a proposal on standard error and ask."""
    draw(console(stderr=True), _show_proposal(proposal))
    return confirm("Write this profile?")


def _move(personas: "Personas", slug: str, chosen: "FileListing", *, out: bool) -> None:
    if out:
        personas.remove(slug, chosen.source)
    else:
        personas.restore(slug, chosen.source)


def _update_code(value: "PersonaUpdate") -> int:
    """Return 4 where a page could not be fetched or a file not be read, else 0."""
    fetched = value.fetched.outcomes if value.fetched else ()
    curated = value.refresh.curation.outcomes if value.refresh.curation else ()
    failed = any(outcome.status == "failed" for outcome in fetched)
    failed |= any(outcome.status in {Curation.FAILED, Curation.CONFLICT} for outcome in curated)
    read = [value.again, value.refresh.sync.files if value.refresh.sync else None]
    codes = [render.report_code(report) for report in read if report]
    return PARTLY if failed or PARTLY in codes else OK


# --- what is shown --------------------------------------------------------------------------------


def _show_moved(
    entry: "FileListing", back: str, *, out: bool, dry_run: bool
) -> Iterator[TerminalBlock]:
    verb = ("Would take" if dry_run else "Took", "out of the index" if out else "in again")
    yield verbatim(f"{verb[0]} {one_line(entry.source)} {verb[1]}.")
    if out and not dry_run:
        yield verbatim(f"The file stays where it is; {CONFIG_FILE} names it under 'exclude'.")
        yield verbatim(f"Bring it back with: {back}")


def _show_update(
    value: "PersonaUpdate", *, dry_run: bool, shown: bool = False
) -> Iterator[TerminalBlock]:
    """Say what was fetched, curated and indexed, and show the proposal unless it was ``shown``."""
    for name in value.copied:
        yield verbatim(f"Copied in: {one_line(name)}")
    yield from _fetched(value)
    yield from show_refresh(value.refresh, dry_run=dry_run)
    if value.again and value.again.outcomes:
        yield verbatim(f"Read anew: {counted(len(value.again.outcomes), 'document')}")
    if value.accepted:
        yield verbatim(("Profile written.", Style.GOOD), f" See {CONFIG_FILE}.")
    if not (shown and value.proposal):
        yield from _show_proposal(value.proposal)
    if value.proposal and not value.accepted:
        yield verbatim(f"Not written. Accept it: chapterhouse persona update {value.slug} --yes")


def _fetched(value: "PersonaUpdate") -> Iterator[TerminalBlock]:
    if value.fetched is None:
        return
    counts = Counter(outcome.status for outcome in value.fetched.outcomes)
    text = ", ".join(f"{count} {name}" for name, count in sorted(counts.items())) or "none listed"
    yield verbatim(("Pages: ", Style.STRONG), text)
    for outcome in value.fetched.outcomes:
        if outcome.status == "failed":
            why = one_line(f"{outcome.message} {outcome.hint}")
            url = one_line(outcome.link.url)
            yield from render.entry("failed", Style.BAD, url, f"{why} ({outcome.code})")
    for page in value.fetched.orphaned:
        gone = f"{one_line(page.url)}: no list has it any more"
        yield from render.entry("gone", Style.QUIET, gone)


def _show_proposal(value: "Proposal") -> Iterator[TerminalBlock]:
    for warning in value.warnings:
        yield from render.entry("warning", Style.WARNING, one_line(warning))
    if not value:
        yield verbatim("The profile stays as it is.")
        return
    yield verbatim(("Profile, ", Style.STRONG), f"by {one_line(value.method)}; yours stays:")
    for change in value.changes:
        yield verbatim((f"  {change.key}", Style.STRONG))
        is_text = isinstance(change.before, str) or isinstance(change.after, str)
        dropped = (str(change.before or ""),) if is_text else change.dropped
        added = (str(change.after or ""),) if is_text else change.added
        for entry in filter(None, dropped):
            yield verbatim((f"    - {entry}", Style.BAD))
        for entry in filter(None, added):
            yield verbatim((f"    + {entry}", Style.GOOD))


def _rows(folder: "PersonaFolder", documents: str) -> Rows:
    config, profile = folder.config, folder.config.profile
    return [
        ("expertise", profile.expertise or "not told yet"),
        ("tags", ", ".join(config.tags) or "none"),
        ("key terms", ", ".join(profile.key_terms) or "none"),
        ("aliases", ", ".join(profile.aliases) or "none"),
        ("documents", documents),
        ("folders", ", ".join(map(str, folder.folders)) or "none but their own"),
        ("reads too", ", ".join(config.shelves) or "no other shelf"),
        ("removed", ", ".join(config.exclude) or "nothing"),
        ("retrieval", _settings(config.retrieval.model_dump(exclude_none=True))),
        ("grounding", config.grounding),
        ("model", config.model or "the library's"),
        ("out of scope", config.out_of_scope),
        ("memory", _settings(config.memory.model_dump(exclude_none=True))),
        ("answers", _settings(config.answer.model_dump(exclude_none=True))),
    ]


def _settings(values: dict[str, object]) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items()) or "as the library"


def _few(names: Sequence[str]) -> str:
    shown = ", ".join(names[:5])
    return f"{shown}, …" if len(names) > 5 else shown  # noqa: PLR2004 - a line's worth


PERSONAS: "Final[Noun[PersonaFolder]]" = Noun(
    kind="persona",
    registry=lambda library: library.personas,
    homes=("personas",),
    entry=lambda entry, library: values.persona_entry(entry, library.personas),
    lists={"tags": lambda folder: folder.config.tags},
    columns={"tags": _few},
    data=lambda folder: {"config": folder.config.model_dump(mode="json"), "prose": folder.prose},
    rows=_rows,
    prose=lambda folder: folder.prose,
    later="their folder has changed since, and is read with the next question",
)
