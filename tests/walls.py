"""Two workspaces with walls between them, and every way to ask, read from what the server states.

Routes come from the OpenAPI description and tools from MCP's list, so that one which is added later
is tried as the others are.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from fastapi import FastAPI

from chapterhouse.agents.council import Council
from chapterhouse.interfaces.api.routing import EVERYWHERE, LEVEL, WHOLE
from chapterhouse.interfaces.mcp.tools import TOOLS
from chapterhouse.interfaces.web.site import PAGES
from chapterhouse.library import Library

OURS: Final = "ours"
THEIRS: Final = "theirs"
ACCEPT: Final = {"Accept": "application/json, text/event-stream"}
# Addresses that are in no OpenAPI description: what they need.
UNDESCRIBED: Final = {("POST", "/mcp"): "read"}
FORM: Final = "application/x-www-form-urlencoded"
FIELDS: Final = (
    "title", "text", "file", "shelf", "tag", "author", "personaname", "expertise", "prose",
    "question", "label", "source", "purpose", "councilname", "changer",
)  # fmt: skip


@dataclass(frozen=True)
class Operation:
    """Something that a client may ask the server for.

    Attributes:
        level: What it needs; ``none`` for anyone.
        whole: Whether a limited key is refused.
        everywhere: Whether a key for some workspaces alone is.
        parameters: As OpenAPI describes them.
        body: The schema of what it takes, if anything.
        media: The type of that.
        schemas: What schemas refer to.
    """

    method: str
    path: str
    level: str
    whole: bool
    parameters: tuple[Mapping[str, Any], ...] = ()
    body: Mapping[str, Any] | None = None
    media: str = ""
    schemas: Mapping[str, Any] | None = None
    streams: bool = False
    everywhere: bool = False

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}"

    def slots(self) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
        """Yield where the operation takes a text: place, name and schema."""
        for one in self.parameters:
            schema = self.resolved(one.get("schema", {}))
            if is_text(schema, self):
                yield one["in"], one["name"], schema
        for name, schema in self.resolved(self.body or {}).get("properties", {}).items():
            resolved = self.resolved(schema)
            if is_text(resolved, self):
                yield "body", name, resolved

    def resolved(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a schema with its reference followed; of alternatives the first but null."""
        if "$ref" in schema:
            return self.resolved((self.schemas or {})[schema["$ref"].rpartition("/")[2]])
        for one in schema.get("anyOf", ()):
            if one.get("type") != "null":
                return self.resolved(one)
        return schema


def is_text(schema: Mapping[str, Any], operation: Operation) -> bool:
    if schema.get("type") == "array":
        return is_text(operation.resolved(schema.get("items", {})), operation)
    plain = schema.get("type") == "string" and "enum" not in schema and "const" not in schema
    return plain and not ({"contentMediaType", "format"} & schema.keys())


def operations(
    description: Mapping[str, Any], undescribed: Mapping[tuple[str, str], str] = UNDESCRIBED
) -> list[Operation]:
    schemas = description["components"]["schemas"]
    found = [Operation(*name, level, whole=False) for name, level in undescribed.items()]
    for path, item in description["paths"].items():
        for method, one in item.items():
            if method == "parameters":
                continue
            content = one.get("requestBody", {}).get("content", {})
            media = next(iter(content), "")
            answers = one["responses"].get("200", {}).get("content", {})
            found.append(
                Operation(
                    method.upper(), path, one[LEVEL], one[WHOLE],
                    tuple(one.get("parameters", ())),
                    content[media]["schema"] if media else None,
                    media, schemas, "text/event-stream" in answers, one[EVERYWHERE],
                )
            )  # fmt: skip
    return found


def page_operations() -> list[Operation]:
    """Return what a browser may ask for as operations; programs are not told of it."""
    application = FastAPI()
    for one in PAGES:
        application.include_router(one)
    return operations(application.openapi(), {})


def tools() -> list[Operation]:
    """Return the tools of MCP as operations: their arguments are a body."""
    found = []
    for tool in TOOLS:
        schema = tool.arguments.model_json_schema()
        found.append(
            Operation("TOOL", tool.name, "read", whole=False, body=schema,
                      schemas=schema.get("$defs", {}), media="mcp")
        )  # fmt: skip
    return found


Choose = Callable[[str, str, Mapping[str, Any]], Any]


def filled(operation: Operation, choose: Choose, *, wanted: Callable[[str], bool]) -> "Filled":
    """Return a request for an operation.

    Args:
        operation: What is asked for.
        choose: Returns a text for a slot: its place, name and schema.
        wanted: Whether something that may be left out is sent.
    """
    parts: dict[str, dict[str, Any]] = {"path": {}, "query": {}, "header": {}, "cookie": {}}
    for one in operation.parameters:
        if one.get("required") or wanted(one["name"]):
            schema = one.get("schema", {})
            parts[one["in"]][one["name"]] = _value(
                operation, schema, one["in"], one["name"], choose, wanted
            )
    body = None
    if operation.body is not None:
        body = _value(operation, operation.body, "body", "", choose, wanted)
    path = operation.path
    for name, value in parts["path"].items():
        path = path.replace(f"{{{name}}}", _quoted(str(value)))
    return Filled(operation, path, parts["query"], parts["header"], body)


@dataclass(frozen=True)
class Filled:
    operation: Operation
    path: str
    query: Mapping[str, Any]
    headers: Mapping[str, str]
    body: Any

    def send(self, client: Any, headers: Mapping[str, str] | None = None) -> Any:
        """Send it; return the answer."""
        known = {**{key: str(value) for key, value in self.headers.items()}, **(headers or {})}
        if self.operation.media == "mcp":
            return call_tool(client, self.path, self.body, known)
        named: dict[str, Any] = {"params": dict(self.query), "headers": known}
        if self.operation.media.startswith("multipart"):
            files = {key: value for key, value in self.body.items() if isinstance(value, tuple)}
            rest = {key: value for key, value in self.body.items() if key not in files}
            named |= {"files": files, "data": rest}
        elif self.operation.media == FORM:
            named["data"] = self.body
        elif self.body is not None:
            named["json"] = self.body
        return client.request(self.operation.method, self.path, **named)


def call_tool(client: Any, tool: str, arguments: Any, headers: Mapping[str, str]) -> Any:
    """Call a tool of MCP; return the answer of HTTP."""
    params = {"name": tool, "arguments": arguments}
    return rpc(client, "tools/call", params, headers)


def rpc(client: Any, method: str, params: Any, headers: Mapping[str, str] | None = None) -> Any:
    """Send a request of MCP; return the answer of HTTP."""
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return client.post("/mcp", json=message, headers={**ACCEPT, **(headers or {})})


def _quoted(value: str) -> str:
    from urllib.parse import quote  # noqa: PLC0415 - beside its only use

    return quote(value, safe="")


def _value(  # noqa: PLR0911 - one return for each kind of value
    operation: Operation,
    schema: Mapping[str, Any],
    place: str,
    name: str,
    choose: Choose,
    wanted: Callable[[str], bool],
) -> Any:
    schema = operation.resolved(schema)
    kind = schema.get("type")
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return "user" if "user" in schema["enum"] else schema["enum"][0]
    if kind == "string" and "contentMediaType" in schema:
        return ("note.md", choose(place, "text", schema).encode())
    if kind == "array":
        return [_value(operation, schema["items"], place, name, choose, wanted)]
    if kind == "object" or "properties" in schema:
        required = schema.get("required", ())
        return {
            key: _value(operation, value, place, key, choose, wanted)
            for key, value in schema.get("properties", {}).items()
            if key in required or wanted(key)
        }
    if kind in {"integer", "number"}:
        return schema.get("default") or max(schema.get("minimum", 1), 1 if kind == "integer" else 0)
    return False if kind == "boolean" else choose(place, name, schema)


@dataclass(frozen=True)
class Secrets:
    stem: str

    def word(self, field: str) -> str:
        return f"{self.stem}{field}"

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(map(self.word, FIELDS))

    def misspelled(self, field: str) -> str:
        return self.word(field)[:-1]


def plant(library: Library, secrets: Secrets, folder: Path) -> str:
    """Put secrets into every field of a workspace; return the id of a document on their shelf."""
    word = secrets.word
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{word('file')}.md"
    path.write_text(
        f"---\ntitle: {word('title')}\ntags: [{word('tag')}]\nauthor: {word('author')}\n---\n\n"
        f"# {word('title')}\n\nThe ferry toll {word('text')} is five crowns. "
        f"{word('text').title()} knows the ferry of the harbour.\n"
    )
    library.documents.add(path, shelf=word("shelf"))
    personas = library.personas
    slug = f"{secrets.stem}persona"
    made = personas.create(slug)
    (made.rag / f"{word('file')}own.md").write_text(f"# Own\n\nThe ferry {word('text')} leaves.\n")
    (made.path / "persona.md").write_text(f"They say {word('prose')}.", "utf-8")
    personas.change(
        slug,
        {
            "display_name": word("personaname"),
            "profile.expertise": f"The ferry and {word('expertise')}.",
        },
    )
    personas.refresh(slug)
    personas.create(f"{slug}two")
    council = Council.new(
        f"{secrets.stem}council", display_name=word("councilname"), purpose=word("purpose")
    )
    council = council.add_member(slug).add_member(f"{slug}two").add_round("independent_analysis")
    library.councils.create(council.chair(name="Chair", instructions=word("purpose")))
    library.sources.add(str(folder), name=word("source"), shelf=word("shelf"))
    library.configuration.change("memory.days", 364, by=word("changer"))
    library.answers.ask(f"When does the ferry leave, {word('question')}?", remember=True)
    return next(one.id for one in library.documents.list([word("shelf")]))
