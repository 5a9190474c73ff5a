"""Opens the tools that a council's file declares, for one meeting, and asks for permission first.

A council's file may come from somebody else, and a server is a program: it is started only if the
settings name it for this council, or whoever convenes says so.
"""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from typing import Self, TypeVar

from chapterhouse.agents.council import Council
from chapterhouse.agents.council_model import MemberKind
from chapterhouse.agents.declared_tools import DeclaredTool, McpServer
from chapterhouse.agents.problems import located
from chapterhouse.council.corpus import corpus_tool
from chapterhouse.council.mcp_client import mcp_tools
from chapterhouse.council.tools import Opened
from chapterhouse.errors import RefusedError
from chapterhouse.runtime import Runtime
from chapterhouse.types import Tool

Warn = Callable[[str], None]
Value = TypeVar("Value")


class OpenedForMeeting:
    """Contexts that are left when a meeting ends, also one that is entered only then."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._lock = threading.Lock()
        self._ended = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._ended = True
        self._stack.close()

    def enter(self, context: AbstractContextManager[Value]) -> Value:
        """Enter a context and return what it gives.

        Raises:
            RefusedError: the meeting has ended meanwhile.
        """
        value = context.__enter__()
        with self._lock:
            if not self._ended:
                self._stack.push(context)
                return value
        context.__exit__(None, None, None)
        raise RefusedError("The meeting ended before its tools were ready.")


def open_declared(
    council: Council, runtime: Runtime, opened: OpenedForMeeting, warn: Warn, *, allow: bool
) -> Opened:
    """Return the tools of every declaration of a council, each opened once.

    Args:
        council: Whose tools are wanted.
        runtime: The library's parts.
        opened: Closes what has to be closed, after the meeting.
        warn: Is told what of a corpus could not be read.
        allow: Whether any server may be started.

    Raises:
        RefusedError: a server may not be started.
        EngineError: one does not start.
        UsageError: a corpus is too large, or a server has no tool of a name that is wanted.
    """
    declared = list(dict.fromkeys(_declared(council)))
    for tool in declared:
        if tool.mcp and not allow:
            _require_permission(tool.mcp, council, runtime)
    return {tool: _open(tool, council, runtime, opened, warn) for tool in declared}


def permission(server: McpServer, council: Council) -> str:
    """Return what the settings must say for a council to start a server with what it may see."""
    seen = f" (env: {', '.join(server.env)})" if server.env else ""
    return f"{council.slug}: {server.line}{seen}"


def _declared(council: Council) -> Iterator[DeclaredTool]:
    members = (*council.members, *([council.chaired_by] if council.chaired_by else ()))
    own = [member for member in members if member.kind is not MemberKind.COUNCIL]
    for tools in (council.tools, *(member.tools for member in own)):
        yield from (tool for tool in tools if isinstance(tool, DeclaredTool))


def _open(
    tool: DeclaredTool, council: Council, runtime: Runtime, opened: OpenedForMeeting, warn: Warn
) -> tuple[Tool, ...]:
    folder = runtime.definitions["council"].folder(council.slug)
    if tool.mcp:
        return opened.enter(mcp_tools(tool.mcp, folder))
    assert tool.corpus is not None  # it was checked
    found, problems = corpus_tool(tool.corpus, located(folder, tool.corpus.folder), runtime)
    for problem in problems:
        warn(problem)
    return (found,)


def _require_permission(server: McpServer, council: Council, runtime: Runtime) -> None:
    wanted = permission(server, council)
    if wanted not in runtime.settings.tools.allow:
        raise RefusedError(
            f"The council would start a program for its tools: {wanted}",
            hint="If you trust it, allow it for one meeting with --allow-tools, or for good in "
            f"chapterhouse.toml: [tools] allow = [{json.dumps(wanted, ensure_ascii=False)}]",
        )
