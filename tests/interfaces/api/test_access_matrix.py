import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, NamedTuple

import pytest
from tests.served import TEXTS, Served, serving
from tests.walls import (
    FORM,
    OURS,
    THEIRS,
    UNDESCRIBED,
    Operation,
    Secrets,
    filled,
    operations,
    page_operations,
    plant,
    rpc,
    tools,
)

from chapterhouse.interfaces.api.application import ROUTERS, build_application
from chapterhouse.interfaces.api.door import is_open
from chapterhouse.interfaces.api.routing import is_page
from chapterhouse.interfaces.web.site import PAGES
from chapterhouse.library import Library
from chapterhouse.types.access import AccessLevel

HIDDEN: Final = Secrets("zqhidden")  # on another shelf of the same workspace
FOREIGN: Final = Secrets("zqforeign")  # in another workspace
ABSENT: Final = 404
ABOUT_THE_CALLER: Final = frozenset({"/api/me", "/api/session", "/login", "/logout", "/enter"})
LEVELS: Final = ("none", "read", "write", "admin")


class Wrong(NamedTuple):
    """Values of a slot that must be answered alike: nobody learns which of them there is.

    Attributes:
        foreign: Of another workspace.
        hidden: Of the same workspace, outside what a limited key may see.
        deleted: Was there.
        random: Never was.
    """

    foreign: str
    hidden: str
    deleted: str
    random: str


@dataclass(frozen=True)
class World:
    served: Served
    wrong: dict[str, Wrong]
    keys: dict[str, str]


# Which ids each slot takes, by place and name. A new one needs a row here or in OF_ADDRESS, or in
# PLAIN if it names nothing that could be another's. The values are made in the fixture ``world``.
ID_SLOTS: Final = {
    (place, name): kind
    for place, names in {
        "path": "document_id=document job_id=job meeting_id=meeting memory_id=memory key_id=key"
        " table=table digest=asset",
        "query": "folder=folder who=who job=job cursor=document document=document shelf=shelf"
        " tag=tag persona=persona council=council member=persona place=place",
        "body": "who=who workspace=workspace shelf=shelf shelves=shelf tags=tag persona=persona"
        " council=council id=document document=document folder=folder"
        " place=place workspaces=workspace personas=persona required=document documents=document",
        "header": "if-match=etag if-none-match=etag",
    }.items()
    for name, _, kind in (one.partition("=") for one in names.split())
}
# Names that mean another thing below each address; they come first.
OF_ADDRESS: Final[dict[str, dict[tuple[str, str], str]]] = {
    "/api/personas/": {("path", "slug"): "persona"},
    "/api/councils/": {("path", "slug"): "council"},
    "/personas/": {("path", "slug"): "persona"},
    "/councils/": {("path", "slug"): "council"},
    "/api/sources/": {("path", "name"): "source"},
    "/api/users/": {("path", "name"): "user"},
    "/api/settings/": {("path", "name"): "setting", ("query", "name"): "setting"},
    "/settings/people/": {("path", "name"): "user"},
    "/assets/": {("path", "name"): "asset"},
    "/v1/": {("path", "model"): "model", ("body", "model"): "model"},
}
# Settings are the same in every workspace: one that there is not is a request that does not fit.
NEVER_FOREIGN: Final = frozenset({"setting"})
# Texts that are words of the caller's own: questions, titles, names of models of the settings; of
# what is made; and of what is stored nowhere (responses and conversations of /v1). Names of users
# are one set for the home, so that an admin who adds one can learn that it is taken.
PLAIN: Final = frozenset({
    "query", "question", "text", "title", "purpose", "model", "format", "options", "label", "name",
    "file_type", "data",
    "location", "include", "exclude", "sentences", "passages", "input", "tool_choice",
    "source", "target", "previous_response_id", "conversation", "before", "answer", "next",
    "password", "key", "kind", "code",
    "digest", "path", "slug", "template", "file", "value", "a", "b", "saved", "of", "display_name",
    "entity",
})  # fmt: skip
WHAT_TO_DO: Final = (
    "{operation} has the slot {place} '{name}' without a row: add ({place!r}, {name!r}) to ID_SLOTS"
    " or OF_ADDRESS with the kind of thing that it names, or {name!r} to PLAIN if it names nothing."
)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("matrix")
    home = folder / "home"
    with Library.open(home, THEIRS) as library:
        foreign = plant(library, FOREIGN, folder / "theirs")
        jobs = [library.documents.upload_later(_received(library, n), f"{n}.md") for n in range(9)]
        for number in range(9):
            library.answers.ask(f"When does ferry {number} leave?", remember=True)
        memories = library.memory.memories(library.memory.personas(), 1, int(time.time()))
    with Library.open(home, OURS) as library:
        (folder / "ferry.md").write_text(TEXTS["ferry.md"])
        library.documents.add(folder / "ferry.md", shelf="open")
        hidden = plant(library, HIDDEN, folder / "ours")
        gone = library.documents.add_text("A note on gulls.", title="Gulls")
        deleted = gone.outcomes[0].record.document_id or ""
        library.documents.remove(deleted)
        own = library.memory.memories(library.memory.personas(), 1, int(time.time()))
        forgotten = library.answers.ask("Who feeds the gulls?", remember=True)
        assert forgotten
        latest = library.memory.memories(library.memory.personas(), 1, int(time.time()))
        library.memory.forget([latest[0].id])
        library.sources.add(str(folder / "ours"), name="gone", shelf="library")
        library.sources.remove("gone")
    wrong = {
        "document": Wrong(foreign, hidden, deleted, "nobody-01234567"),
        "job": Wrong(jobs[-1].id, "j77", "j78", "j79"),
        "shelf": Wrong(FOREIGN.word("shelf"), HIDDEN.word("shelf"), "gone", "nowhere"),
        "tag": Wrong(FOREIGN.word("tag"), HIDDEN.word("tag"), "gone", "nothing"),
        "persona": Wrong("zqforeignpersona", "zqhiddenpersona", "gone", "nobody"),
        "council": Wrong("zqforeigncouncil", "zqhiddencouncil", "gone", "nobody"),
        "etag": Wrong('"aa-1-x"', '"ab-1-x"', '"ac-1-x"', '"ad-1-x"'),
        "source": Wrong(FOREIGN.word("source"), HIDDEN.word("source"), "gone", "nowhere"),
        "memory": Wrong(memories[0].id, own[0].id, latest[0].id, "m99"),
        "model": Wrong("persona/zqforeignpersona", "council/zqhiddencouncil", "gone", "nobody"),
        "workspace": Wrong(THEIRS, "zqhidden", "gone", "nowhere"),
        "setting": Wrong("zqforeign", "zqhidden", "zqgone", "zqnothing"),
        "table": Wrong("zqforeign", "zqhidden", "gone", "nothing"),
        "asset": Wrong("zqforeign", "zqhidden", "gone", "nothing"),
        "folder": Wrong("theirs", "zqhidden", "gone", "nowhere"),
        "who": Wrong(
            "persona/zqforeignpersona", "persona/zqhiddenpersona", "persona/gone", "persona/nobody"
        ),
        "place": Wrong("zqforeign:a", "zqhidden:a", "gone:a", "nowhere:a"),
    }
    with serving(home) as served:
        keys = _keys(served)
        wrong["key"] = Wrong(
            keys["theirs"][:11], keys["all"][:11], keys["gone"][:11], "ch_01234567"
        )
        wrong["user"] = _users(served)
        wrong["meeting"] = Wrong(
            _convened(served, keys["theirs"], "zqforeigncouncil"),
            _convened(served, keys["write"], "zqhiddencouncil"),
            "0" * 32,
            "f" * 32,
        )
        yield World(served, wrong, keys)


def _users(served: Served) -> Wrong:
    for name, workspaces in (("zqforeign", (THEIRS,)), ("zqhidden", None), ("gone", (OURS,))):
        served.access.create_user(name, "four unlikely words", AccessLevel.READ, workspaces, by="t")
    served.access.remove_user("gone", by="t")
    return Wrong("zqforeign", "zqhidden", "gone", "nobody")


def _convened(served: Served, key: str, council: str) -> str:
    """Let a council meet; return the id of the meeting."""
    with served.client(key) as client:
        began = client.post(f"/api/councils/{council}/meetings", json={"question": "Who?"})
        assert began.status_code == 202, began.text
        return str(began.json()["id"])


def _received(library: Library, number: int) -> str:
    with library.documents.receive() as upload:
        upload.write(f"# Note {number}\n".encode())
        return upload.finish()


def _keys(served: Served) -> dict[str, str]:
    limits: dict[str, dict[str, Any]] = {
        "read": {},
        "write": {},
        "admin": {},
        "shelf": {"level": "write", "shelves": ("open",)},
        "persona": {"level": "write", "personas": ("nobody",)},
        "limited": {"level": "admin", "shelves": ("open",)},
        "theirs": {"level": "admin", "workspaces": (THEIRS,)},
        "gone": {"level": "admin", "workspaces": (THEIRS,)},
        "all": {"level": "admin", "workspaces": None},
    }
    made = {
        name: served.key(**{"level": name, "workspaces": (OURS,), **limit})
        for name, limit in limits.items()
    }
    made["expired"] = served.key("admin", expires=int(time.time()) + 1)
    made["revoked"] = served.key("admin")
    for name in ("revoked", "gone"):
        served.access.revoke_key(made[name][:11], by="test")
    time.sleep(1.1)  # until the one has expired
    return made


@pytest.fixture(scope="module")
def every(world: World) -> list[Operation]:
    with world.served.client(world.keys["admin"]) as client:
        described = operations(client.get("/api/openapi.json").json())
    return [*described, *page_operations()]


def test_every_route_is_described_or_listed(world: World, every: list[Operation]) -> None:
    described = {(one.method, one.path) for one in every}
    application = build_application(world.served.state)
    plain = [one for one in application.routes if hasattr(one, "methods")]
    for route in [*plain, *(route for one in (*ROUTERS, *PAGES) for route in one.routes)]:
        path = getattr(route, "path", "").replace(":path}", "}").replace(":source}", "}")
        methods = (set(getattr(route, "methods", None) or ()) or {"POST"}) - {"HEAD"}
        for method in methods & {"GET", "POST", "PUT", "PATCH", "DELETE"}:
            known = (method, path) in described or path == "/mcp"
            assert known, f"{method} {path} is in no table: add it to UNDESCRIBED in tests/walls.py"
    assert described >= UNDESCRIBED.keys()


def test_only_what_is_open_needs_nothing(every: list[Operation]) -> None:
    assert all(is_open(one.method, one.path) for one in every if one.level == "none")
    assert not any(is_open(one.method, _any_path(one)) for one in every if one.level != "none")


def test_every_slot_has_a_row(every: list[Operation]) -> None:
    missing = [
        WHAT_TO_DO.format(operation=operation.name, place=place, name=name)
        for operation in [*every, *tools()]
        for place, name, _schema in operation.slots()
        if kind_of(operation, place, name) is None and not (place != "path" and name in PLAIN)
    ]
    assert not missing, "\n".join(missing)


def test_who_has_no_valid_key_learns_nothing(world: World, every: list[Operation]) -> None:
    wrong = f"{world.keys['admin'][:12]}{'A' * 43}"  # the id of a key that there is
    closed = [one for one in every if one.level != "none"]
    few = [one for one in closed if one.path in {"/api/me", "/api/documents", "/v1/models"}]
    others = ["x", "ch_00000000_short", f"ch_00000000_{'A' * 43}", wrong, world.keys["expired"]]
    asked = {"": closed, world.keys["revoked"]: closed, **dict.fromkeys(others, few)}
    for key, called in asked.items():
        answers = set()
        with world.served.client(key) as client:
            for operation in called:
                answer = _sent(client, operation)
                assert answer.status_code == 401, (key, operation.name)
                assert "bearer" in answer.headers["www-authenticate"].lower()
                answers.add((_form(operation), answer.text))
        assert {form for form, _ in answers} == {"problem", "openai"}
        assert len(answers) == 2  # the same for every address of a form


def test_who_has_no_key_is_answered_before_any_body(world: World, every: list[Operation]) -> None:
    long = "Content-Length: 99999999999\r\nExpect: 100-continue"
    for operation in every:
        if operation.level != "none" and operation.method != "GET":
            start = f"{operation.method} {_any_path(operation)} HTTP/1.1"
            for headers in (long, "Transfer-Encoding: chunked"):
                head = f"{start}\r\nHost: {world.served.host}\r\n{headers}\r\n\r\n"
                with world.served.connected() as connection:
                    connection.sendall(head.encode())
                    assert connection.recv(100).startswith(b"HTTP/1.1 401 "), operation.name


def test_a_parameter_that_does_not_exist_is_refused_by_every_route_and_tool(
    world: World, every: list[Operation]
) -> None:
    """It is named, and so is what exists; a slash at the end of the address changes nothing."""
    unknown, sent = "zqnone", {"zqnone": "library"}
    with world.served.client(world.served.key("admin"), OURS) as client:
        for operation in every:
            names = [one["name"] for one in operation.parameters if one["in"] == "query"]
            for end in ("", "/") if operation.path != "/" else ("",):
                answer = client.request(
                    operation.method, _any_path(operation) + end, params=sent, json={}
                )
                assert answer.status_code == (400 if _form(operation) == "openai" else 422), (
                    operation.name, answer.text,
                )  # fmt: skip
                assert all(name in answer.text for name in (unknown, *names)), answer.text
            if operation.media and _form(operation) == "problem":
                is_form = operation.media.startswith("multipart")
                body: dict[str, Any] = {"files": sent} if is_form else {"json": sent}
                body = {"data": sent} if operation.media == FORM else body
                answer = client.request(operation.method, _any_path(operation), **body)
                if operation.media == FORM and answer.status_code == ABSENT:
                    continue  # of a page: what the address names is looked for first
                assert answer.status_code in ({400, 422} if is_form else {422}), operation.name
                known = operation.resolved(operation.body or {})["properties"]
                assert all(name in answer.text for name in (unknown, *known)), answer.text
        for tool in tools():
            called = rpc(client, "tools/call", {"name": tool.path, "arguments": sent}).text
            known = (tool.body or {}).get("properties", ())
            assert '"isError":true' in called, called
            assert all(name in called for name in (unknown, *known)), called
            assert (tool.body or {})["additionalProperties"] is False


def test_who_may_not_is_refused_before_the_body_is_read(
    world: World, every: list[Operation]
) -> None:
    """Too low a level, a limit where all is shown, a workspace where the machine is meant."""

    def above(level: str) -> Callable[[Operation], bool]:
        return lambda one: LEVELS.index(one.level) > LEVELS.index(level)

    cases: tuple[tuple[str, Callable[[Operation], bool], str], ...] = (
        ("read", above("read"), "level"),
        ("write", above("write"), "level"),
        *(
            (key, lambda one: one.whole and not above("write")(one), "not limited")
            for key in ("shelf", "persona")
        ),
        ("limited", lambda one: one.whole, "not limited"),
        ("admin", lambda one: one.everywhere, "all workspaces"),
    )
    for key, may_not, said in cases:
        refused = list(filter(may_not, every))
        assert refused
        with world.served.client(world.keys[key]) as client:
            for operation in refused:
                answer = _sent(client, operation)
                assert (answer.status_code, said in answer.text) == (403, True), operation.name


def test_a_foreign_workspace_is_answered_as_one_that_is_not_there(
    world: World, every: list[Operation]
) -> None:
    with world.served.client(world.keys["admin"]) as client:
        for operation in every:
            if operation.level != "none":
                texts = set()
                for workspace in (THEIRS, "nowhere"):
                    answer = _sent(client, operation, {"X-Workspace": workspace})
                    assert answer.status_code == ABSENT, operation.name
                    texts.add(answer.text.replace(workspace, "…"))
                assert len(texts) == 1, operation.name


def test_foreign_deleted_and_missing_things_are_answered_alike(
    world: World, every: list[Operation]
) -> None:
    harmless_first = sorted([*every, *tools()], key=lambda one: LEVELS.index(one.level))
    for key in ("shelf", "persona", "admin"):  # who may add a shelf comes last
        with world.served.client(world.keys[key]) as client:
            for operation in harmless_first:
                for place, name, _schema in operation.slots():
                    if (kind := kind_of(operation, place, name)) is not None:
                        _require_alike(world, client, key, operation, (place, name, kind))


@pytest.mark.parametrize("limit", [{"shelves": ("open",)}, {"personas": ("nobody",)}])
def test_a_user_is_answered_as_a_key_so_limited(
    world: World, every: list[Operation], limit: dict[str, Any]
) -> None:
    """Over a session; what would change something, or is about them, is left out."""
    grant: dict[str, Any] = {"workspaces": (OURS,), **limit}
    with (
        world.served.client(world.served.key("admin", **grant)) as program,
        world.served.session("guest", "admin", **grant) as person,
    ):
        for operation in [*every, *tools()]:
            refused = operation.whole or operation.everywhere
            if operation.level != "read" and not refused:
                continue
            if operation.path in ABOUT_THE_CALLER:
                continue
            for place in range(len(Wrong._fields)):
                choose = _choosing(world, operation, place)
                request = filled(operation, choose, wanted=partial(_is_odd, place))
                answers = [request.send(one) for one in (program, person)]
                codes = {one.status_code for one in answers}
                assert len(codes) == 1, (operation.name, [one.text for one in answers])
                assert codes == {403} or not refused, operation.name
                is_frame = is_page(operation.path)  # in which a session's token stands
                if answers[0].is_success and not operation.streams and not is_frame:
                    texts = {one.text for one in answers}
                    assert len(texts) == 1, (operation.name, texts)


def _is_odd(place: int, _name: str) -> bool:
    return place % 2 == 1


def _choosing(world: World, operation: Operation, place: int) -> Any:
    def choose(at: str, called: str, _schema: Any) -> str:
        kind = kind_of(operation, at, called)
        if kind is None:
            return "When does the ferry leave?"
        return {"shelf": "open", "model": "chapterhouse"}.get(kind) or world.wrong[kind][place]

    return choose


def _require_alike(
    world: World, client: Any, key: str, operation: Operation, slot: tuple[str, str, str]
) -> None:
    place, name, kind = slot
    values = world.wrong[kind]._asdict()
    if key == "admin":  # who sees all of the workspace sees what is hidden from others
        del values["hidden"]
    answers = {}
    for what, value in values.items():
        choose = _choice(world, operation, slot, value)
        request = filled(operation, choose, wanted=lambda one: one == name)
        answer = request.send(client)
        answers[what] = (answer.status_code, _normal(answer.text, value))
        if place == "path" and kind not in NEVER_FOREIGN:
            refused = key != "admin" and operation.whole
            assert answer.status_code == (403 if refused else ABSENT), (operation.name, key, what)
    assert len(set(answers.values())) == 1, (operation.name, slot, key, answers)


def _choice(world: World, operation: Operation, slot: tuple[str, str, str], value: str) -> Any:
    place, name, _ = slot

    def choose(at: str, called: str, _schema: Any) -> str:
        if (at, called) == (place, name):
            return value
        kind = kind_of(operation, at, called)
        if kind == "model":
            return "chapterhouse"
        if kind == "shelf":
            return "open"
        return world.wrong[kind].random if kind else "When does the ferry leave?"

    return choose


def _normal(text: str, value: str) -> str:
    text = text.replace(json.dumps(value)[1:-1], "…").replace(value, "…")
    text = text.replace(f"'{value.removeprefix('persona/')}'", "'…'")
    text = text.replace(json.dumps(json.dumps(value))[1:-1], "…")
    text = re.sub(r"ch_[0-9a-f]{8}_[\w-]{43}", "a key", text)  # that was made: another each time
    if '<article class="entry' in text:  # the keys and users that the caller has made before
        text = re.sub(r'<article class="entry.*?</article>', "", text, flags=re.DOTALL)
    if text.startswith("{"):
        known = json.loads(text)
        if known.keys() >= {"kind", "state", "attempts"}:  # a job that was made: another each time
            return "a job"
        if known.keys() >= {"ingested", "sha256"}:  # a document, of which only the shelf differs
            return "a document"
        if known.keys() == {"change", "question"}:  # a verdict, whose id is that of its shelves
            return "a verdict"
        if known.keys() == {"key", "secret"}:
            return "a key"
    return text


def test_resources_of_mcp_that_are_not_ours_are_as_if_they_were_not_there(world: World) -> None:
    for key in ("admin", "shelf", "persona"):
        with world.served.client(world.keys[key]) as client:
            for kind in ("document", "persona", "council"):
                values = world.wrong[kind]._asdict()
                if key == "admin":
                    del values["hidden"]
                answers = set()
                for value in values.values():
                    uri = f"chapterhouse://{kind}s/{value}"
                    answer = rpc(client, "resources/read", {"uri": uri})
                    assert '"error"' in answer.text, (key, uri)
                    answers.add(answer.text.replace(value, "…"))
                assert len(answers) == 1, (key, kind, answers)


def _sent(client: Any, operation: Operation, headers: Mapping[str, str] | None = None) -> Any:
    """Send an operation with a body that is no JSON; return the answer."""
    headers = {"Content-Type": "application/json", **(headers or {})}
    return client.request(operation.method, _any_path(operation), content=b'{"', headers=headers)


def kind_of(operation: Operation, place: str, name: str) -> str | None:
    """Return which kind of thing a slot names; None where there is no row for it."""
    for start, rows in OF_ADDRESS.items():
        if operation.path.startswith(start.rstrip("/")) and (place, name) in rows:
            return rows[place, name]
    return ID_SLOTS.get((place, name))


def _form(operation: Operation) -> str:
    """Return in which form errors come: below /v1 in that of OpenAI."""
    return "openai" if operation.path.startswith("/v1/") else "problem"


def _any_path(operation: Operation) -> str:
    return operation.path.replace("{", "").replace("}", "")
