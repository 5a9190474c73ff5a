"""A small MCP server for tests: it answers, fails, hangs, tells of its surroundings, and stays."""

import os
import signal
import sys
import time
from pathlib import Path

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("archive")


@server.tool()
def find_letter(query: str, year: int | None = None) -> str:
    """Find letters of the archive."""
    return f"The harbour had a limit of 3 knots in {year or 1920}."


@server.tool(name="archive.fail-now")
def fail_now() -> str:
    """Fail."""
    raise ToolError("no [such] letter")


@server.tool()
def hang() -> str:
    """Take for ever."""
    time.sleep(3600)
    return "never"


@server.tool()
def surroundings() -> list[str]:
    """Tell what can be seen."""
    return [str(Path.cwd()), *sorted(os.environ)]


@server.tool()
def die() -> str:
    """End at once."""
    os._exit(3)


if __name__ == "__main__":
    Path("pid").write_text(str(os.getpid()))
    if "stubborn" in sys.argv:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if "silent" in sys.argv:
        time.sleep(3600)
    server.run()
    if "stubborn" in sys.argv:
        time.sleep(3600)
