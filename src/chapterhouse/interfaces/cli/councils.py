"""Commands about councils: new, list, show, validate, remove, docs list."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Final

from chapterhouse import lazy
from chapterhouse.agents.council import Council, as_object, council_from
from chapterhouse.agents.council_model import Member, Round, RoundKind, tool_name
from chapterhouse.agents.definition import COUNCIL_TEMPLATES, DEFAULT_COUNCIL_TEMPLATE
from chapterhouse.interfaces.cli import registries
from chapterhouse.interfaces.cli.options import (
    DryRun,
    Yes,
    argument,
    group,
    option,
    reopening,
)
from chapterhouse.interfaces.cli.progress import show_progress
from chapterhouse.interfaces.cli.registries import (
    Noun,
    Rows,
    absolute,
    documents_data,
    folder_named,
)
from chapterhouse.interfaces.cli.session import (
    InterruptedWorkError,
    Outcome,
    opened_library,
)
from chapterhouse.presenting.blocks import Style, TerminalBlock, verbatim
from chapterhouse.presenting.styled import one_line
from chapterhouse.store.definitions import DOCS
from chapterhouse.text.counting import counted

if TYPE_CHECKING:
    from chapterhouse.agents import councils
    from chapterhouse.agents.council import CouncilFolder
    from chapterhouse.agents.listing import FileListing
    from chapterhouse.agents.registry import OnProgress, Refresh
    from chapterhouse.interfaces import values
    from chapterhouse.library import Library
else:
    councils = lazy("chapterhouse.agents.councils")
    values = lazy("chapterhouse.interfaces.values")

app = group("Make and check councils, and list their documents.")
docs = group("The documents that all members share.")
app.add_typer(docs, name="docs")

Which = Annotated[
    str, argument("COUNCIL", "A council: its slug, the beginning of it, or its name.")
]


@app.command()
def new(
    slug: Annotated[str, argument("SLUG", "Lower-case letters, digits and single hyphens.")],
    *,
    name: Annotated[str, option("--name", "NAME", "How it is called; else the slug.")] = "",
    template: Annotated[
        str, option("--template", "NAME", f"What to start from: {', '.join(COUNCIL_TEMPLATES)}.")
    ] = DEFAULT_COUNCIL_TEMPLATE,
    each: Annotated[
        list[str] | None,
        option(
            "--each",
            "FOLDER",
            "Make a member of every file and subfolder, who reads just that; or of those that fit"
            " a pattern in quotes, as 'contracts/2024*'; repeatable.",
        ),
    ] = None,
    member: Annotated[
        list[str] | None,
        option(
            "--member",
            "PERSONA",
            "A persona that is a member, instead of the template's roles; repeatable.",
        ),
    ] = None,
    folder: Annotated[
        list[str] | None,
        option("--folder", "PATH", "A folder whose documents all members read; repeatable."),
    ] = None,
) -> Outcome:
    """Make a council's folder, with a configuration to fill in or with a member for each file.

    In a folder that is there already only what is missing is made. Exit code 4 says that
    something could not be read.
    """
    folders = [folder_named(path) for path in folder or ()]
    members = councils.folder_members(*map(absolute, each)) if each else ()
    with opened_library(create=True) as library, show_progress() as on_progress:
        personas = [library.personas.resolve(persona) for persona in member or ()]
        council = council_from(
            template, slug, display_name=name, personas=personas, members=members, folders=folders
        )
        if members:
            made, read = _read(library, council, on_progress)
        else:
            made, read = library.councils.create(council), None
        problems = library.councils.validate(slug)
    names = [member.name or member.key for member in made.council.members]
    return registries.made(COUNCILS, made, _steps(made, read), problems, read, names)


def _read(
    library: "Library", council: Council, on_progress: "OnProgress"
) -> "tuple[CouncilFolder, Refresh]":
    try:
        return library.councils.create_and_read(council, on_progress=on_progress)
    except KeyboardInterrupt:
        raise InterruptedWorkError(
            f"Stopped. The council is made; its documents are not all read: {council.slug}",
            hint=f"Read the rest: chapterhouse sync council/{council.slug}{reopening()}",
        ) from None


def _steps(made: "CouncilFolder", read: "Refresh | None") -> dict[str, str]:
    slug, again = made.slug, reopening()
    if read is not None:
        return {
            "Ask what each one says": f'chapterhouse convene {slug} "QUESTION"{again}',
            "Change names, or what it is for, in": str(made.file),
        }
    return {
        "Say who the members are and what it is for, in": str(made.file),
        f"Drop documents for all members into {DOCS}/, or link a folder": (
            f"chapterhouse source add PATH --council {slug}{again}"
        ),
        "See what is still wrong": f"chapterhouse council validate {slug}{again}",
    }


@app.command("list")
def list_councils() -> Outcome:
    """List the councils, also those that cannot be read, with the reason."""
    return registries.list_all(COUNCILS)


@app.command()
def show(council: Which) -> Outcome:
    """Show a council's members, its rounds, its tools and its documents."""
    return registries.show(COUNCILS, council)


@app.command()
def validate(
    council: Annotated[str | None, argument("[COUNCIL]", "A council; all when left out.")] = None,
) -> Outcome:
    """Name everything that keeps a council from meeting, by path and code.

    Exit code 1 says that there are errors; warnings alone end with 0.
    """
    return registries.validate(COUNCILS, council)


@app.command("remove")
def remove_council(council: Which, *, yes: Yes = False, dry_run: DryRun = False) -> Outcome:
    """Remove a council with what is its own: documents and remembered answers.

    Its folder is moved aside and can be moved back. It says what goes and asks first; off a
    terminal, and with --json, it does nothing without --yes: exit code 10.
    """
    return registries.remove(COUNCILS, council, yes=yes, dry_run=dry_run)


# --- documents ---


@docs.command("list")
def list_documents(council: Which) -> Outcome:
    """List the documents of all members and of single ones: what is indexed, and why not."""
    with COUNCILS.opened() as library:
        folder, listed = library.councils.load(council), library.councils.documents(council)
    data = {**documents_data(listed), "folders": folder.folders}
    return Outcome(data, _documents(folder, listed))


# --- what is shown --------------------------------------------------------------------------------


def _data(value: "CouncilFolder") -> dict[str, object]:
    """Shape a council's file as it is written, and what that comes to."""
    council, chair = value.council, value.council.chaired_by
    return {
        "shelf": council.shelf,
        "config": as_object(council),
        "chair": {"key": chair.key, "kind": chair.kind} if chair else None,
        "folders": [str(path) for path in value.folders],
    }


def _rows(folder: "CouncilFolder", documents: str) -> Rows:
    value = folder.council
    at_once = f"{counted(value.parallel, 'member')}, {value.round_timeout_seconds:g} s a round"
    return [
        ("purpose", value.purpose or "not told"),
        *(("member", _member(member)) for member in value.members),
        ("chair", _member(value.chaired_by) if value.chaired_by else "nobody"),
        *((f"round {number}", _round(entry)) for number, entry in enumerate(value.rounds, 1)),
        ("options", ", ".join(value.options) or "none"),
        ("model", value.model or "the library's"),
        ("tools", ", ".join(map(tool_name, value.tools)) or "none"),
        ("documents", documents),
        ("shelf", value.shelf),
        ("linked", ", ".join(map(str, folder.folders)) or "no folder"),
        ("at a time", at_once),
    ]


def _member(member: Member) -> str:
    details = (
        f"{member.kind.value} {member.persona or member.council}".strip(),
        member.model,
        f"grounding {member.grounding}" if member.grounding else "",
        f"tools {', '.join(map(tool_name, member.tools))}" if member.tools else "",
        f"reads {', '.join((*member.folders, *member.shelves))}"
        if member.folders or member.shelves
        else "",
        f"{member.timeout_seconds:g} s" if member.timeout_seconds is not None else "",
    )
    return _described(member.name or member.key, details, member.instructions)


def _round(entry: Round) -> str:
    details = (
        entry.kind.value if entry.kind is RoundKind.OWN else "",
        "sees statements" if entry.sees_statements else "",
        f"only {', '.join(entry.speakers)}" if entry.speakers else "",
    )
    return _described(entry.name, details, entry.instructions)


def _described(name: str, details: Sequence[str], instructions: str) -> str:
    known = "; ".join(filter(None, details))
    return name + (f" ({known})" if known else "") + (f": {instructions}" if instructions else "")


def _documents(folder: "CouncilFolder", listed: "Sequence[FileListing]") -> Iterator[TerminalBlock]:
    """List the linked folders and the files, and under each that is not indexed why."""
    for path in folder.folders:
        gone = "" if path.is_dir() else "  is not there; what was read of it before stays"
        yield verbatim(("linked  ", Style.QUIET), (one_line(str(path)), Style.STRONG), gone)
    link = f"chapterhouse source add PATH --council {folder.slug}"
    yield from registries.show_documents(listed, f"{DOCS}/, or link a folder: {link}")


COUNCILS: "Final[Noun[CouncilFolder]]" = Noun(
    kind="council",
    registry=lambda library: library.councils,
    homes=("councils", "personas"),
    entry=lambda entry, library: values.council_entry(entry, library.councils),
    lists={
        "rounds": lambda folder: [entry.name for entry in folder.council.rounds],
        "members": lambda folder: [member.key for member in folder.council.members],
    },
    columns={"rounds": lambda names: str(len(names)), "members": ", ".join},
    data=_data,
    rows=_rows,
    later="its folders have changed since, and are read when it next meets",
)
