"""Tools that a council's file declares itself: folders to search."""

import json
import re
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from pathlib import PurePath
from typing import Annotated, ClassVar, Final

from pydantic import ConfigDict, Field, TypeAdapter
from pydantic_core import PydanticKnownError

from chapterhouse.agents.definition import Text
from chapterhouse.text.naming import slug
from chapterhouse.types import Tool

GROUP: Final = "chapterhouse.tools"  # of the entry points by which packages bring tools
TOP_K: Final = 4
MOST_PASSAGES: Final = 20
# How files are read; what is built in Python is checked by its values alone.
AS_JSON: Final = ConfigDict(extra="forbid", strict=True, revalidate_instances="always")
_NOT_IN_NAMES: Final = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Corpus:
    """A folder whose documents one tool searches, and which are on no shelf.

    Attributes:
        folder: Absolute, with ``~``, or relative to the council's own.
        name: Of the tool; empty for ``search_`` and the name of the folder.
        description: When to call it; empty for a sentence with the name of the folder.
        top_k: Passages where the model does not say how many, 1 to 20.
    """

    __pydantic_config__: ClassVar[ConfigDict] = AS_JSON

    folder: str = ""
    name: str = ""
    description: Text = ""
    top_k: Annotated[int, Field(ge=1, le=MOST_PASSAGES)] = TOP_K

    @property
    def tool_name(self) -> str:
        """The name by which a model calls it."""
        words = _NOT_IN_NAMES.sub("_", slug(PurePath(self.folder).name)).strip("_")
        return self.name or f"search_{words or 'corpus'}"


@dataclass(frozen=True, slots=True)
class DeclaredTool:
    """One declaration, whose key says what it is: there are corpora."""

    __pydantic_config__: ClassVar[ConfigDict] = AS_JSON

    corpus: Corpus | None = None


ToolRef = str | Tool | DeclaredTool  # a name that is registered, the tool itself, or a declaration


def tool_name(tool: ToolRef) -> str:
    """Return the name by which a tool is called and shown."""
    if isinstance(tool, str):
        return tool
    if isinstance(tool, Tool):
        return tool.name
    return tool.corpus.tool_name if tool.corpus else ""


def parse_tool(value: object) -> ToolRef:
    """Return the tool that a file names or declares; only Python has tools themselves."""
    if isinstance(value, dict):
        return _adapter().validate_json(json.dumps(value))
    if isinstance(value, DeclaredTool):
        return _adapter().validate_python(value)
    if not isinstance(value, (str, Tool)):
        raise PydanticKnownError("string_type")
    return value


def tool_as_json(tool: ToolRef) -> object:
    """Return a tool as a file has it: a declaration, or the name."""
    if isinstance(tool, DeclaredTool):
        return _adapter().dump_python(tool, exclude_defaults=True)
    return tool_name(tool)


def installed_names() -> frozenset[str]:
    """Return the names of the tools that installed packages bring; none is loaded."""
    return frozenset(entry.name for entry in entry_points(group=GROUP))


@cache
def _adapter() -> TypeAdapter[DeclaredTool]:
    return TypeAdapter(DeclaredTool)
