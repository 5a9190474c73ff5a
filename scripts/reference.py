"""Write the parts of the documentation that the program itself knows.

    python scripts/reference.py            # write them
    python scripts/reference.py --check    # exit 1 if a page is out of date

A part stands between ``<!-- generated: NAME -->`` and ``<!-- end -->``.
"""

import atexit
import io
import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from functools import cache, partial
from pathlib import Path
from typing import Any

from chapterhouse.errors import ChapterhouseError
from chapterhouse.ingest import encoders
from chapterhouse.interfaces.api.application import build_application
from chapterhouse.interfaces.api.problems import name_of_kind
from chapterhouse.interfaces.api.routing import EVERYWHERE, LEVEL, WHOLE
from chapterhouse.interfaces.cli import main as run
from chapterhouse.interfaces.cli.main import COMMANDS, command
from chapterhouse.interfaces.serving import Address, Site
from chapterhouse.reading.formats import supported_formats
from chapterhouse.reading.limits import NOTICES, REJECTIONS
from chapterhouse.types import BENIGN_NOTICES

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
COMMON = {"json", "home", "workspace", "debug", "quiet"}
EXAMPLE = "examples/varnholm-ferry"
_TRANSCRIPT = re.compile(
    r"transcript (?:in (?P<folder>\S+) )?(?:after (?P<before>.+) )?of (?P<line>.+)", re.DOTALL
)
_PART = re.compile(r"(<!-- generated: (?P<name>[^>]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "".join(
        "| " + " | ".join(cell.replace("|", "\\|").replace("``", "`") for cell in line) + " |\n"
        for line in lines
    )


def commands() -> dict[str, Any]:
    """Return every command by its full name, as ``docs list``."""
    return dict(_commands_below({name: command(name) for name in COMMANDS}))


def _commands_below(found: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, entry in found.items():
        if hasattr(entry, "commands"):
            for below, inner in _commands_below(entry.commands):
                yield f"{name} {below}", inner
        elif not entry.hidden:  # another system's word for one of the others
            yield name, entry


def options(entry: Any) -> str:
    """Return the arguments and own options of a command as a table."""
    rows = [
        (f"`{_spelling(parameter)}`", parameter.help or "", _default(parameter))
        for parameter in entry.params
        if parameter.name not in COMMON | {"help"}
    ]
    return (
        table(("Argument or option", "Meaning", "Default"), rows)
        if rows
        else "No further options.\n"
    )


def common_options() -> str:
    """Return the options that every command takes, as a table."""
    parameters = {parameter.name: parameter for parameter in commands()["status"].params}
    rows = [
        (f"`{_spelling(parameters[name])}`", parameters[name].help, _default(parameters[name]))
        for name in ("json", "home", "workspace", "debug", "quiet")
    ]
    return table(("Option", "Meaning", "Default"), rows)


def _spelling(parameter: Any) -> str:
    names = [name for name in parameter.opts if name.startswith("--")]
    if not names:
        return str(parameter.metavar)
    return f"{names[0]} {parameter.metavar}" if parameter.metavar else names[0]


def _default(parameter: Any) -> str:
    value = parameter.default
    return f"`{value}`" if isinstance(value, (str, int)) and value not in {False, ""} else ""


def formats() -> str:
    """Return every format and what reads it."""
    rows = [
        (
            entry.format,
            " ".join(f"`{extension}`" for extension in entry.extensions),
            _without_versions(entry.method),
            entry.note,
        )
        for entry in supported_formats()
    ]
    return table(("Format", "Extensions", "Read by", "Note"), rows)


def _without_versions(method: str) -> str:
    return re.sub(r" [0-9][0-9a-z.]*", "", method)


def codes(entries: Mapping[str, str]) -> str:
    """Return codes and their meanings."""
    return table(("Code", "Meaning"), [(f"`{code}`", text) for code, text in entries.items()])


def notices() -> str:
    """Return the notices, and which of them mean that text is missing."""
    rows = [
        (f"`{code}`", sentence, "no" if code in BENIGN_NOTICES else "yes")
        for code, sentence in NOTICES.items()
    ]
    return table(("Code", "Meaning", "Makes the document partial"), rows)


def exit_codes() -> str:
    """Return the error types of the library with their exit codes."""
    found = {
        kind.__name__: (kind.exit_code, (kind.__doc__ or "").splitlines()[0])
        for kind in _kinds(ChapterhouseError)
        if kind.__module__ == "chapterhouse.errors"
    }
    rows = [(f"`{name}`", str(code), text) for name, (code, text) in sorted(found.items())]
    return table(("Error type", "Exit code", "Meaning"), rows)


def problems() -> str:
    """Return the errors of the library as clients over HTTP learn of them."""
    rows = [
        (f"`{name_of_kind(kind)}`", str(kind.status), (kind.__doc__ or "").splitlines()[0])
        for kind in _kinds(ChapterhouseError)
        if kind.__module__ == "chapterhouse.errors" and kind is not ChapterhouseError
    ]
    return table(("Type", "Status", "Meaning"), sorted(rows))


def routes() -> str:
    """Return every route of the server, with the level that it needs and what it does."""
    with tempfile.TemporaryDirectory() as home:
        door = Site(Path(home), Address()).open(lambda _: None)
        application = build_application(door.state)
    rows = [
        (f"`{method.upper()} {path}`", _level(route), route["description"].splitlines()[0])
        for path, methods in application.openapi()["paths"].items()
        for method, route in methods.items()
        if method != "parameters"  # those that all methods of a path have
    ]
    rows.append(("`/mcp`", "read", "Speak the [Model Context Protocol](mcp.md)."))
    return table(("Route", "Level", "What it does"), rows)


def _level(route: Mapping[str, Any]) -> str:
    level = "anyone" if route[LEVEL] == "none" else route[LEVEL]
    limits = [word for name, word in ((WHOLE, "whole"), (EVERYWHERE, "all")) if route[name]]
    return ", ".join([level, *limits])


def _kinds(kind: type[ChapterhouseError]) -> Iterator[type[ChapterhouseError]]:
    yield kind
    for below in kind.__subclasses__():
        yield from _kinds(below)


@cache
def example_home(folder: str = EXAMPLE, before: str = "") -> Path:
    """Return the home of a library that holds a folder of the checkout, made once.

    Args:
        before: A command line that is run in it.
    """
    home = Path(tempfile.mkdtemp(prefix="chapterhouse-reference-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    run_command(["add", folder, "--quiet"], home)  # progress is told where it takes long
    if before:
        run_command([*shlex.split(before), "--quiet"], home)
    return home


def run_command(arguments: Sequence[str], home: Path) -> str:
    """Run a command from the root of the checkout, as the documentation does."""
    shown, told = (io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2))
    before = dict(os.environ)
    os.environ.pop("FORCE_COLOR", None)
    os.environ["CHAPTERHOUSE_HOME"] = str(home)  # --home would be in every citation's command
    os.environ["CHAPTERHOUSE_BACKGROUND"] = "0"  # vectors made meanwhile would change the ranking
    try:
        with chdir(ROOT), redirect_stdout(shown), redirect_stderr(told):
            run(list(arguments))
    finally:
        os.environ.clear()
        os.environ.update(before)
    if error := _written(told):
        raise RuntimeError(error)
    return _written(shown)


def _written(stream: io.TextIOWrapper) -> str:
    stream.seek(0)
    return stream.read()


def transcript(line: str, folder: str = EXAMPLE, before: str = "") -> str:
    """Return a command line over the example, or another folder, with what it prints."""
    shown = run_command(shlex.split(line), example_home(folder, before)).rstrip("\n")
    return f"```console\n$ chapterhouse {line}\n\n{shown}\n```\n"


def parts() -> dict[str, Callable[[], str]]:
    """Return every generated part by name."""
    return {
        "common options": common_options,
        "formats": formats,
        "rejections": lambda: codes(REJECTIONS),
        "notices": notices,
        "exit codes": exit_codes,
        "problems": problems,
        "routes": routes,
        **{f"options of {name}": partial(options, entry) for name, entry in commands().items()},
    }


def rendered(page: str, known: Mapping[str, Callable[[], str]]) -> str:
    """Return a page with its generated parts written anew."""

    def written(match: re.Match[str]) -> str:
        name = match.group("name")
        asked = _TRANSCRIPT.fullmatch(name)
        if asked:
            part = transcript(asked["line"], asked["folder"] or EXAMPLE, asked["before"] or "")
        else:
            part = known[name]()
        return f"{match.group(1)}\n{part}\n{match.group(3)}"

    return _PART.sub(written, page)


_ROUNDING = 0.005  # of a score, between processors


def is_same(page: str, fresh: str) -> bool:
    """Whether two texts differ by no more than scores do between processors."""
    (page_words, page_scores), (words, scores) = map(_apart, (page, fresh))
    return page_words == words and all(
        abs(one - other) < _ROUNDING for one, other in zip(page_scores, scores, strict=True)
    )


def _apart(text: str) -> tuple[list[str], list[float]]:
    parts = re.split(r"(?<=score )(0\.\d+)", text)
    return parts[::2], list(map(float, parts[1::2]))


def main() -> int:
    """Write or check every page; return the exit code."""
    encoders._SOON = 600.0  # type: ignore[misc]  # noqa: SLF001 - so that a busy machine shows the same
    known, stale = parts(), []
    for path in PAGES:
        page = path.read_text("utf-8")
        fresh = rendered(page, known)
        if not is_same(page, fresh):
            stale.append(path.name)
            if "--check" not in sys.argv[1:]:
                path.write_text(fresh, "utf-8")
    sys.stdout.write("\n".join(stale or ["every page is up to date"]) + "\n")
    return int("--check" in sys.argv[1:] and bool(stale))


if __name__ == "__main__":
    raise SystemExit(main())
