"""A walk of random requests beside secrets that must not be seen, and of changes to those."""

import logging
import random
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.served import Served, serving
from tests.walls import (
    OURS,
    THEIRS,
    Operation,
    Secrets,
    filled,
    operations,
    page_operations,
    plant,
    tools,
)

from chapterhouse.evaluation.questions import Verdict, as_question, save_feedback, to_judged_answer
from chapterhouse.interfaces.api.state import ServerOptions
from chapterhouse.library import Library
from chapterhouse.types.access import AccessLevel

HIDDEN: Final = Secrets("zqhidden")
FOREIGN: Final = Secrets("zqforeign")
_QUERIES: Final = ("When does the ferry leave the harbour?", "What is the toll of the bridge?")
_WORDS: Final = ("ferry", "harbour", "toll", "bridge", "crowns", "gull", "dog", "nine", "anchor")
# The log has the addresses that others tried: test_access has whose log shows what.
_LEFT_OUT: Final = {"/mcp", "/api/openapi.json", "/api/audit", "/settings/audit"}
_CLIENTS: Final = ("httpx", "httpcore", "asyncio")  # they log what they send, in our own process
_OURS: Final = {
    "ferry": "# Ferry\n\nThe ferry leaves the harbour at nine. Dogs need a lead.\n",
    "tolls": "# Tolls\n\nThe toll of the bridge is four crowns for a car.\n",
}


@dataclass(frozen=True)
class Viewer:
    name: str
    key: str
    secrets: tuple[Secrets, ...]

    def seen(self, answer: str, request: str) -> list[str]:
        low, asked = answer.lower(), request.lower()
        words = (word for one in self.secrets for word in one.words)
        return [word for word in words if word in low and word not in asked]


@dataclass
class Result:
    steps: int = 0
    sighted: int = 0  # answers with secrets for who may see them: it would be noticed
    requests: dict[str, int] = field(default_factory=dict)
    statuses: dict[int, int] = field(default_factory=dict)
    changes: int = 0
    leaks: list[str] = field(default_factory=list)
    moved: list[str] = field(default_factory=list)
    server_errors: list[str] = field(default_factory=list)


class _Log(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if not record.name.startswith(_CLIENTS):
            self.lines.append(self.format(record))


class Walk:
    def __init__(self, folder: Path, seed: int, stack: ExitStack) -> None:
        self.random = random.Random(seed)
        self.result = Result()
        self._home = folder / "home"
        self._home.mkdir()
        (self._home / "chapterhouse.toml").write_text("[analytics]\ntext = true\n")
        self._libraries = {
            name: stack.enter_context(Library.open(self._home, name)) for name in (OURS, THEIRS)
        }
        self._plant(folder)
        options = ServerOptions(remember=True, starts_workers=False, per_second=1e6, burst=1e6)
        self.served: Served = stack.enter_context(serving(self._home, options))
        self._log = _Log()
        root = logging.getLogger()
        before = root.level
        root.addHandler(self._log)
        root.setLevel(logging.DEBUG)
        stack.callback(root.removeHandler, self._log)
        stack.callback(root.setLevel, before)
        self.viewers = self._viewers()
        self._clients = {
            one.name: stack.enter_context(self.served.client(one.key)) for one in self.viewers
        }
        described = self._clients["admin"].get("/api/openapi.json").json()
        every = [*operations(described), *page_operations()]
        self._operations = [one for one in every if one.path not in _LEFT_OUT]
        self._tools = tools()
        with self.served.client(self.served.key("admin", workspaces=(THEIRS,))) as foreign:
            convened = f"/api/councils/{FOREIGN.stem}council/meetings"
            began = foreign.post(convened, json={"question": FOREIGN.word("question")})
            self._meetings.append(began.json()["id"])

    def _plant(self, folder: Path) -> None:
        ours = self._libraries[OURS]
        self.wrong_ids = [
            plant(ours, HIDDEN, folder / "hidden"),
            plant(self._libraries[THEIRS], FOREIGN, folder / "theirs"),
        ]
        for library, secrets in ((ours, HIDDEN), (self._libraries[THEIRS], FOREIGN)):
            library.councils.convene(f"{secrets.stem}council", secrets.word("question"))
            _judge(library, secrets)
        self._made: list[str] = []  # by those who ask
        self._meetings = ["0" * 32]
        self._theirs: list[tuple[str, str]] = []  # workspace and id
        self._own = [
            ours.documents.add_text(text, shelf="open").outcomes[0].record.document_id or ""
            for text in _OURS.values()
        ]
        persona = ours.personas.create("vera")
        (persona.rag / "own.md").write_text("# Own\n\nVera says the ferry needs a ticket.\n")
        ours.personas.refresh("vera")

    def _viewers(self) -> tuple[Viewer, ...]:
        served, ours = self.served, {"workspaces": (OURS,)}
        served.access.create_key(
            FOREIGN.word("label"), AccessLevel.READ, (THEIRS,), by=FOREIGN.word("label")
        )
        both = (HIDDEN, FOREIGN)
        return (
            Viewer("workspace", served.key("write", **ours), (FOREIGN,)),
            Viewer("admin", served.key("admin", **ours), (FOREIGN,)),
            Viewer("shelf", served.key("write", **ours, shelves=("open",)), both),
            Viewer("persona", served.key("read", **ours, personas=("vera",)), both),
        )

    def run(self, steps: int) -> Result:
        """Take so many steps; return what was seen."""
        for _ in range(steps):
            self.result.steps += 1
            if self.random.random() < 0.04:
                self._change_of_theirs()
            else:
                self._request()
        words = (word for one in (HIDDEN, FOREIGN) for word in one.words)
        text = "\n".join(self._log.lines).lower()
        self.result.leaks += [f"log: {word}" for word in words if word in text]
        return self.result

    @property
    def log_lines(self) -> int:
        return len(self._log.lines)

    def _request(self) -> None:
        """Let somebody ask; an admin only looks, or they would change who may what."""
        viewer = self.random.choice(self.viewers)
        is_admin, levels = viewer.name == "admin", {"none", "read", "write"}
        fitting = (
            one
            for one in self._operations
            if (one.method == "GET" if is_admin else one.level in levels)
        )
        self._send(viewer, self.random.choice([*fitting, *self._tools]))

    def _send(self, viewer: Viewer, operation: Operation) -> None:
        writes = operation.level == "write"

        def choose(place: str, name: str, _schema: Mapping[str, Any]) -> str:
            if place == "path" and not name.endswith("document_id"):
                return self._name(operation, name, viewer)
            return self._text(place, name, viewer, writes=writes)

        request = filled(operation, choose, wanted=self._wants)
        if operation.path.startswith("/v1/") and "messages" in (request.body or {}):
            request.body["stream"] = self.random.random() < 0.5
        asked = f"{request.path} {request.query} {request.headers} {request.body}"
        headers = {"X-Workspace": THEIRS} if self.random.random() < 0.03 else {}
        answer = request.send(self._clients[viewer.name], headers)
        self._look_at(viewer, operation.name, asked, answer)
        if writes and answer.is_success:
            self._follow(answer)
        if answer.status_code == 202 and operation.path.endswith("/meetings"):
            self._meetings.append(answer.json()["id"])
            path = f"/api/meetings/{self._meetings[-1]}/events"
            events = self._clients[viewer.name].get(path)
            self._look_at(viewer, "GET /api/meetings/{meeting_id}/events", asked, events)

    def _wants(self, name: str) -> bool:
        return name == "content" or self.random.random() < 0.3

    def _name(self, operation: Operation, slot: str, viewer: Viewer) -> str:
        pick, stems = self.random.choice, (HIDDEN.stem, FOREIGN.stem)
        if slot == "slug":
            kind = "council" if "councils" in operation.path else "persona"
            return pick(["vera", *(f"{stem}{kind}" for stem in stems)])
        if slot == "name":  # of theirs as it is misspelled: the log of what was tried has it
            sources = [HIDDEN.word("source"), FOREIGN.misspelled("source"), "persona/vera"]
            return pick(["memory.days", "max_tokens"] if "settings" in operation.path else sources)
        names = {
            "memory_id": [f"m{number}" for number in range(1, 30)],
            "meeting_id": self._meetings[-6:] + self._meetings[:2],
            "model": self._models(),
        }
        return pick(names.get(slot, ["j1", "j2", "vera", viewer.key[:11]]))

    @staticmethod
    def _models() -> list[str]:
        stems = (HIDDEN.stem, FOREIGN.stem)
        theirs = [f"{kind}/{stem}{kind}" for stem in stems for kind in ("persona", "council")]
        return ["chapterhouse", "persona/vera", "chapterhouse-embeddings", *theirs]

    def _text(  # noqa: PLR0911 - one return for each kind of text
        self, place: str, name: str, viewer: Viewer, *, writes: bool
    ) -> str:
        """Return a text for a slot; what is written holds no secret, or it would be no secret."""
        pick = self.random.choice
        if place == "path":  # what is hidden is theirs to remove who see all of the workspace
            wrong = self.wrong_ids[1:] if writes and viewer.name == "workspace" else self.wrong_ids
            return pick([*self._own, *self._made[-5:], *wrong, "j1", "j2", "vera"])
        if writes:
            own = pick(["open", "open", "library"])
            return own if "shel" in name else " ".join(self.random.choices(_WORDS, k=4))
        if "shel" in name:
            return pick(["open", *self._near("shelf")])
        if name in {"id", "cursor"}:
            return pick([*self._own, *self._made[-5:], *self.wrong_ids, ""]) or "x"
        if name == "persona":
            return pick(["vera", "ver", *(f"{one.stem}persona" for one in (HIDDEN, FOREIGN))])
        plain = {"type": "text", "tool_choice": "auto"}
        if name == "model" and self.random.random() < 0.5:
            return pick(self._models())
        if name in plain:
            return plain[name]
        is_plain = name in {"model", "purpose", "format"}
        return (
            "none"
            if is_plain
            else pick([*_QUERIES, " ".join(self.random.choices(_WORDS, k=3)), *self._near()])
        )

    def _near(self, field_name: str = "") -> list[str]:
        names = [field_name] if field_name else ["title", "text", "file", "author", "expertise"]
        return [one.misspelled(name) for one in (HIDDEN, FOREIGN) for name in names]

    def _follow(self, answer: Any) -> None:
        if answer.status_code == 202:
            self._libraries[OURS].jobs.work(idle_seconds=0)
        elif answer.headers.get("content-type") == "application/json":
            made = answer.json()
            is_document = isinstance(made, dict) and {"id", "sha256"} <= made.keys()
            if is_document and made["id"] not in self._own:
                self._made.append(made["id"])

    def _look_at(self, viewer: Viewer, name: str, asked: str, answer: Any) -> None:
        self.result.requests[name] = self.result.requests.get(name, 0) + 1
        status = answer.status_code
        self.result.statuses[status] = self.result.statuses.get(status, 0) + 1
        shown = f"{answer.content.decode('utf-8', 'replace')} {dict(answer.headers)}"
        if seen := viewer.seen(shown, asked):
            self.result.leaks.append(f"{viewer.name} {name} {status}: {seen} for {asked[:300]}")
        if viewer.name == "workspace" and HIDDEN.stem in shown.lower():
            self.result.sighted += 1
        if status >= 500:
            self.result.server_errors.append(f"{viewer.name} {name}: {answer.text[:300]}")

    def _change_of_theirs(self) -> None:
        """Change what is not seen; nobody's answers may move by it."""
        workspace = self.random.choice((OURS, THEIRS))
        watched = [
            one for one in self.viewers if workspace == THEIRS or one.name in {"shelf", "persona"}
        ]
        before = {one.name: self._scores(one) for one in watched}
        self._change(workspace)
        self.result.changes += 1
        for one in watched:
            if self._scores(one) != before[one.name]:
                self.result.moved.append(f"{one.name} by a change in {workspace}")

    def _change(self, workspace: str) -> None:
        library = self._libraries[workspace]
        secrets = HIDDEN if workspace == OURS else FOREIGN
        mine = [one for where, one in self._theirs if where == workspace]
        what = self.random.random()
        if what < 0.25 and mine:
            chosen = self.random.choice(mine)
            library.documents.remove(chosen)
            self._theirs.remove((workspace, chosen))
        elif what < 0.4 and mine:
            shelves = [secrets.word("shelf"), f"{secrets.word('shelf')}two"]
            library.documents.set_shelves(self.random.choice(mine), shelves)
        elif what < 0.5:
            library.answers.ask(f"{secrets.word('question')} {self.random.choice(_QUERIES)}")
        else:
            field_name = self.random.choice(["title", "text", "author"])
            words = " ".join(self.random.choices(_WORDS, k=12))
            text = f"The {secrets.word(field_name)} {words}, {self.random.random()}."
            report = library.documents.add_text(
                text, title=secrets.word("title"), shelf=secrets.word("shelf")
            )
            self._theirs.append((workspace, report.outcomes[0].record.document_id or ""))
            self.wrong_ids[-1 if workspace == THEIRS else 0] = self._theirs[-1][1]

    def _scores(self, viewer: Viewer) -> list[str]:
        client = self._clients[viewer.name]
        found = [
            client.post("/api/documents/search", json={"query": query}).text for query in _QUERIES
        ]
        ask = {"question": _QUERIES[0], "persona": "vera" if viewer.name == "persona" else ""}
        return [*found, client.post("/api/ask", json=ask).text]


def _judge(library: Library, secrets: Secrets) -> None:
    """Call an answer good, so that a question to evaluate has secrets, too."""
    answer = library.answers.ask(f"When does the ferry leave, {secrets.word('question')}?")
    save_feedback(library, as_question(Verdict.GOOD, to_judged_answer(answer)))
