"""What a language model gets with its prompt, and what it returned."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

TOOL_TEXT: Final = "tool."  # what the id of a tool's text begins with


@dataclass(frozen=True, slots=True)
class OutputFormat:
    """The form in which a model is to answer: one JSON object, and nothing else.

    Attributes:
        name: Letters, digits and underscores.
        schema: JSON schema of the object. Every property is required and no other is allowed, no
            part refers to another: what all services take that can hold a model to a schema.
    """

    name: str
    schema: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class ToolPassage:
    """A passage that a tool found, and the place where it stands, in words; or empty."""

    place: str
    text: str


@dataclass(frozen=True, slots=True)
class ToolText:
    """A text that a tool returned, stored whole: citations of it are checked without the tool.

    Attributes:
        place: Where the tool found it, in the tool's words; or empty.
        text: As the model was shown it: ``quote == text[start:end]`` of every citation.
    """

    tool: str
    arguments: Mapping[str, object]
    place: str
    text: str
    text_sha256: str

    @property
    def id(self) -> str:
        """The id under which it is cited; no document has it, for none has a dot in its own."""
        named = f"{self.tool}\0{self.place}\0{self.text_sha256}"
        return f"{TOOL_TEXT}{self.tool}.{hashlib.sha256(named.encode()).hexdigest()[:16]}"


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that goes along with a question.

    Attributes:
        data: An image in Base64, else the text.
        media_type: Of an image; else empty.
    """

    type: Literal["image", "text"]
    name: str
    data: str = field(repr=False)
    media_type: str = ""


@dataclass(frozen=True, slots=True)
class Tool:
    """Something that a model may call while it writes.

    Attributes:
        name: Letters, digits and underscores.
        description: What it does and when to call it. Never holds text of a document.
        parameters: JSON schema of its arguments, an object.
        call: Gets the validated arguments, returns the text for the model. Runs in a thread of
            its own; models that share the tool may call it at the same time.
        timeout_seconds: Longest call; the model learns that it took too long, and goes on.
        maximum_characters: Of the text for the model; the rest is cut off, with a note.
        parallel: Whether several calls that one model makes at once may also run at once. Those
            of a tool that remembers what it was asked run in the order in which they were made.
        find: Gets the same arguments and returns passages, each with its place, which are cited
            one by one; None where what ``call`` returns is cited as one text.
        fingerprint: Another one whenever the tool may find something else; empty if not known.
        external: Whether only the asker's program can call it: what a model writes ends where it
            wants that, and ``call`` is never used. Its arguments are for that program to check.
    """

    name: str
    description: str
    parameters: Mapping[str, object]
    call: Callable[[Mapping[str, object]], str]
    timeout_seconds: float = 30.0
    maximum_characters: int = 100_000
    parallel: bool = False
    find: Callable[[Mapping[str, object]], Sequence[ToolPassage]] | None = None
    fingerprint: str = ""
    external: bool = False


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool: what it was given, what came of it, and how long it took."""

    name: str
    arguments: Mapping[str, object]
    result: str
    failed: bool = False
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class WantedCall:
    """A call of an external tool that a model wants; the arguments are JSON as it wrote them."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ModelLimits:
    """What a model takes, as far as its settings or its server say.

    Attributes:
        context: Tokens of prompt and answer together; 0: not known.
        answer: Tokens of its longest answer; 0: not known.
        at_once: Requests that its server works on at a time; 0: not known.
    """

    context: int = 0
    answer: int = 0
    at_once: int = 0


@dataclass(frozen=True, slots=True)
class Usage:
    """What was used of a model. Tokens are as its service counts them."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def __add__(self, further: "Usage") -> "Usage":
        """Return the sum of both."""
        return Usage(
            self.calls + further.calls,
            self.prompt_tokens + further.prompt_tokens,
            self.completion_tokens + further.completion_tokens,
        )


@dataclass(frozen=True, slots=True)
class Writing:
    """What a model wrote, without what it thought.

    Attributes:
        cut: Whether it ends where the limit of tokens was, not where the model wanted.
        wanted: Calls of external tools with which it ends.
    """

    text: str
    model: str
    usage: Usage = Usage()
    tool_calls: tuple[ToolCall, ...] = ()
    cut: bool = False
    wanted: tuple[WantedCall, ...] = ()
