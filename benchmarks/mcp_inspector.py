"""The MCP server, called by another client than the SDK's: the MCP Inspector's command line.

    python benchmarks/mcp_inspector.py [--inspector COMMAND] [--download] [--write]

Serves the example over standard input and output and over HTTP, and lets the Inspector list what
there is and call it, in both eras of the protocol. ``COMMAND`` is what starts the Inspector, by
default ``mcp-inspector``; it needs Node.js 22.19. With ``--download`` npx fetches both from the npm
registry, where that can be reached. The result is only kept with ``--write``.
"""

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from chapterhouse.agents.council import Council
from chapterhouse.interfaces.owner_key import read_owner_key
from chapterhouse.library import Library
from measuring import Bar, Machine, Row, Table, finish

CHECKOUT = Path(__file__).parents[1]
VERSION = "2.12.0"
DOWNLOAD = f"npx -y -p node@22 -p @modelcontextprotocol/inspector@{VERSION} mcp-inspector"
QUESTION = "Up to how much may stranded passengers claim for lodging a night?"
WAYS = (("stdio", "legacy"), ("stdio", "modern"), ("http", "legacy"), ("http", "modern"))
SECONDS = 120
REQUESTS = 40  # ten over each transport in each era
TOOLS = [
    "search",
    "fetch",
    "search_knowledge",
    "semantic_search",
    "search_documents",
    "ask",
    "convene",
    "list_personas",
    "list_councils",
]

Call = Callable[..., dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Passed:
    """Something that the Inspector did, and how long it took to start, ask and end."""

    transport: str
    era: str
    what: str
    seconds: float


class Inspector:
    """The Inspector's command line."""

    def __init__(self, command: Sequence[str], folder: Path) -> None:
        """Run ``command``; what it keeps goes into ``folder``."""
        self._command = [*command, "--cli"]
        kept = {key: value for key, value in os.environ.items() if "CHAPTERHOUSE" not in key}
        self._environment = {**kept, "MCP_CATALOG_PATH": str(folder / "catalog.json")}

    def version(self) -> str:
        """Return its version."""
        return self._run(["--version"]).strip().splitlines()[-1]

    def call(self, server: Sequence[str], era: str, *options: str) -> dict[str, Any]:
        """Return what it prints of one request."""
        told = self._run([*server, "--protocol-era", era, "--quiet", "--method", *options])
        value: dict[str, Any] = json.loads(told)
        return value

    def _run(self, arguments: Sequence[str]) -> str:
        done = subprocess.run(
            [*self._command, *arguments],
            check=False,
            capture_output=True,
            text=True,
            env=self._environment,
            timeout=SECONDS,
        )
        if done.returncode:
            sys.exit(f"{shlex.join([*self._command, *arguments])} failed:\n{done.stderr}")
        return done.stdout


def build(home: Path) -> None:
    """Read the example into a library, and seat a council."""
    with Library.open(home) as library:
        library.documents.add(CHECKOUT / "examples" / "varnholm-ferry")
        library.councils.create(
            Council.new("harbour-board")
            .add_member(name="Harbourmaster", instructions="Speak for the harbour.")
            .add_member(name="Treasurer", instructions="Speak for the treasury.")
            .add_round("independent_analysis")
            .link(str(CHECKOUT / "examples" / "varnholm-ferry" / "policies"))
        )


@contextmanager
def served_over_http(home: Path) -> Iterator[str]:
    """Serve over HTTP on a free port; yield the address of MCP."""
    serving = [sys.executable, "-m", "chapterhouse", "serve", "--port", "0", "--home", str(home)]
    with subprocess.Popen(serving, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr
            found = None
            while found is None:
                line = process.stderr.readline()
                if not line:
                    sys.exit("The server ended before it served.")
                found = re.search(r"http://\S+/mcp", line)
            yield found.group()
        finally:
            process.terminate()


def checks(call: Call, library: Library) -> Iterator[str]:
    """Make each request and yield what passed.

    Raises:
        AssertionError: something is not as it should be.
    """
    listed = call("tools/list", "--strict")  # ends with an error where a schema is not portable
    assert [tool["name"] for tool in listed["tools"]] == TOOLS
    assert all(tool["annotations"]["readOnlyHint"] for tool in listed["tools"])
    yield "tools/list --strict"
    documents = {document.id for document in library.documents.list()}
    resources = call("resources/list")["resources"]
    assert documents <= {resource["name"] for resource in resources}
    yield "resources/list"
    assert len(call("resources/templates/list")["resourceTemplates"]) == 3
    yield "resources/templates/list"
    name = min(documents)
    read = call("resources/read", "--uri", f"chapterhouse://documents/{name}")
    assert read["contents"][0]["text"] == library.documents.body(name).text
    yield "resources/read"
    found = _tool(call, "search", query="harbour works and dredging")["results"]
    assert found
    yield "tools/call search"
    page = _tool(call, "fetch", id=found[0]["id"])
    assert found[0]["text"] in page["text"]
    yield "tools/call fetch"
    answer = _tool(call, "ask", question=QUESTION)
    assert answer["found"]
    _require_verified(answer["citations"], library)
    yield "tools/call ask"
    minutes = _tool(call, "convene", council="harbour-board", question=QUESTION)
    _require_verified(minutes["citations"], library)
    yield "tools/call convene"


def _tool(call: Call, name: str, **arguments: str) -> dict[str, Any]:
    result = call("tools/call", "--tool-name", name, "--tool-args-json", json.dumps(arguments))
    assert not result.get("isError"), result
    data: dict[str, Any] = result["structuredContent"]
    return data


def _require_verified(citations: Sequence[dict[str, Any]], library: Library) -> None:
    assert citations
    for citation in citations:
        text = library.documents.body(citation["document_id"]).text
        assert citation["verified"]
        assert text[citation["start"] : citation["end"]] == citation["quote"]


def run(
    command: Sequence[str], folder: Path, ways: Sequence[tuple[str, str]] = WAYS
) -> tuple[str, list[Passed]]:
    """Return the Inspector's version and everything that passed; end where something did not.

    Args:
        command: What starts it.
        folder: Where to keep the library, and what the Inspector keeps.
        ways: Transports with the era of the protocol.
    """
    home = folder / "home"
    build(home)
    inspector = Inspector(command, folder)
    version = inspector.version()
    server = [sys.executable, "-m", "chapterhouse", "mcp", "--home", str(home)]
    passed: list[Passed] = []
    with Library.open(home) as library, served_over_http(home) as address:
        for transport, era in ways:
            key = ["--header", f"Authorization: Bearer {read_owner_key(home)}"]
            target = server if transport == "stdio" else [address, *key]
            began = time.monotonic()
            for what in checks(partial(inspector.call, target, era), library):
                passed.append(Passed(transport, era, what, time.monotonic() - began))
                began = time.monotonic()
    return version, passed


def main() -> int:
    """Run all of it and show what passed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--inspector", default="mcp-inspector", help="what starts the Inspector")
    parser.add_argument("--download", action="store_true", help="let npx fetch it")
    parser.add_argument("--write", action="store_true", help="keep the result")
    given = parser.parse_args()
    command = shlex.split(DOWNLOAD if given.download else given.inspector)
    if shutil.which(command[0]) is None:
        sys.exit(f"{command[0]} is not there: see --help.")
    machine = Machine()
    with TemporaryDirectory() as folder:
        version, passed = run(command, Path(folder))
    rows: list[Row] = [(one.transport, one.era, one.what, round(one.seconds, 1)) for one in passed]
    return finish(
        "mcp_inspector",
        f"The MCP server called by the MCP Inspector {version}",
        [Bar("requests that passed", len(passed), least=REQUESTS)],
        [Table("Requests", ("transport", "protocol", "request", "seconds"), tuple(rows))],
        machine.setting("mcp"),
        ["Each request is a process of the Inspector's own; over stdio it starts the server, too."],
        write=given.write,
    )


if __name__ == "__main__":
    sys.exit(main())
