import re
import shlex
from pathlib import Path

from chapterhouse.interfaces.cli.main import command
from chapterhouse.interfaces.mcp.tools import TOOLS

SKILL = Path(__file__).parents[3] / "docs" / "skills" / "chapterhouse" / "SKILL.md"


def test_its_front_matter_names_and_describes_it() -> None:
    match = re.fullmatch(
        r"---\nname: ([a-z-]+)\ndescription: (.+)\n---\n\n# .+", SKILL.read_text("utf-8"), re.DOTALL
    )
    assert match
    name, description = match.group(1), match.group(2).partition("\n")[0]
    assert name == SKILL.parent.name
    assert "Use it when" in description
    assert len(description) <= 1024


def test_every_command_in_it_exists_with_its_options() -> None:
    lines = re.findall(r"`(chapterhouse [^`]+)`", SKILL.read_text("utf-8"))
    assert len(lines) > 5
    for line in lines:
        words = shlex.split(line)[1:]
        found = command(words.pop(0))
        while hasattr(found, "commands"):
            found = found.commands[words.pop(0)]
        spelt = {option for parameter in found.params for option in parameter.opts}
        assert {word for word in words if word.startswith("--")} <= spelt, line


def test_every_tool_is_told_of() -> None:
    text = SKILL.read_text("utf-8")
    untold = {tool.name for tool in TOOLS if f"`{tool.name}`" not in text}
    assert untold == {"search"}  # search_knowledge says more
