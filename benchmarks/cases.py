"""Inputs that other systems fail with: what is right, and what Chapterhouse shows.

    python benchmarks/cases.py              every case
    python benchmarks/cases.py h02 h07      those whose folder begins so, with what was shown

Reads ``cases.toml``. Each folder below ``cases`` of ``$CHAPTERHOUSE_DATA`` goes into a home of its
own, over the command line, as do the texts that ``cases.toml`` states; questions are asked before
the encoder's vectors are made and after.
"""

import io
import json
import shutil
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

sys.path.append(str(Path(__file__).parent / "soak"))

from chapterhouse.claims.mismatch import find_mismatches
from chapterhouse.claims.quotation import closest_sentences
from chapterhouse.interfaces.cli import main as chapterhouse
from chapterhouse.types import Evidence
from measuring import Bar, Machine, Table, data_folder, finish
from server import Server

CHECKS: Final = Path(__file__).with_name("cases.toml")
Check = Mapping[str, Any]


def run(home: Path, *arguments: str) -> str:
    """Run a command over a home; return what it prints."""
    printed = io.BytesIO()
    out, errors = io.TextIOWrapper(printed, "utf-8"), io.TextIOWrapper(io.BytesIO(), "utf-8")
    with redirect_stdout(out), redirect_stderr(errors):
        chapterhouse([*arguments, "--home", str(home)])
        out.flush()
    return printed.getvalue().decode()


def data(home: Path, *arguments: str) -> Any:
    """Run a command over a home; return the data of its JSON, or nothing where it failed."""
    return json.loads(run(home, *arguments, "--json")).get("data") or {}


def faults(home: Path, folder: Path, check: Check) -> Iterator[str]:
    """Yield what is wrong of what is shown for a check."""
    first: str | None = None
    if "served" in check:
        shown = SERVED[check["served"]](home, folder, check)
    elif "text" in check:
        ids = [
            one["id"] for one in data(home, "docs", "list") if one["source"].endswith(check["text"])
        ]
        shown = run(home, "docs", "show", ids[0], "--text") if ids else "(not read)"
    elif "convene" in check:
        shown = council(home, folder, check["convene"])
    elif "written" in check:
        shown = compared(folder, check["written"])
    elif "search" in check:
        shown = run(home, "search", check["search"])
        first = next(
            (one["chunk"]["text"] for one in data(home, "search", check["search"])["hits"]), ""
        )
    else:
        shown, found = run(home, "ask", check["ask"]), data(home, "ask", check["ask"])
        first = next((_with_header(one, found) for one in found["sentences"]), "")
        outcome = check.get("outcome", "")
        if outcome and (found["outcome"] == "answer") is not (outcome == "answer"):
            yield f"outcome: {found['outcome']}"
        if "page" in check:
            places = [[str(one["page"]), one["page_label"]] for one in found["citations"]]
            if check["page"] not in places:
                yield f"pages: {places}"
    shown = " ".join(shown.split())
    yield from (
        f"lacks: {one}" for one in check.get("has", ()) if " ".join(one.split()) not in shown
    )
    yield from (f"has: {one}" for one in check.get("lacks", ()) if " ".join(one.split()) in shown)
    if first is not None:
        yield from (f"first lacks: {one}" for one in check.get("first", ()) if one not in first)


def _with_header(sentence: Mapping[str, Any], answer: Mapping[str, Any]) -> str:
    """Return a quoted part with the heading row and headings above it, as they are shown."""
    cited = [one for one in answer["citations"] if one["number"] in sentence["citations"]]
    return " ".join(
        [sentence["text"], *(f"{one['header']} {one['section_path']}" for one in cited)]
    )


def council(home: Path, folder: Path, question: str) -> str:
    """Return what a council of the folder's members says to a question."""
    if not (home / "councils").exists():
        run(home, "council", "new", "crew", "--template", "contracts", "--each", str(folder))
    return run(home, "convene", "crew", question)


def compared(folder: Path, sentence: str) -> str:
    """Return what stands beside a model's sentence: its source's closest words, and its faults."""
    texts = ((path.name, path.read_text("utf-8")) for path in sorted(folder.iterdir()))
    sources = [Evidence(name, 0, len(text), text, "en") for name, text in texts]
    closest = closest_sentences(sentence, sources)
    faults = (f"not there: {one.text}" for one in find_mismatches(sentence, sources))
    return " ".join([closest.quote if closest else "(nothing close)", *faults])


def quotations(home: Path, _folder: Path, check: Check) -> str:
    """Return the answer as it comes by HTTP, by OpenAI's protocol and by MCP, if all have it."""
    with Server(home, options=["--workers", "1"]) as server:
        asked = {"model": "chapterhouse", "messages": [{"role": "user", "content": check["ask"]}]}
        texts = [
            server.client.post("/api/ask", json={"question": check["ask"]}).json()["text"],
            server.client.post("/v1/chat/completions", json=asked).text,
            server.client.post("/mcp", json=_call("ask", question=check["ask"]), headers=_MCP).text,
        ]
    whole = all(each in text for text in texts for each in check["has"])
    return texts[0] if whole else repr(texts)[:2_000].replace(check["has"][0], "(in some)")


def newer_upload(home: Path, folder: Path, check: Check) -> str:
    """Send two versions of a file under one name; return the answer to the question."""
    with Server(home, options=["--workers", "1"]) as server:
        for name in ("tariff_v1.txt", "tariff_v2.txt"):
            sent = ("tariff.txt", (folder / name).read_bytes())
            job = server.client.post("/api/documents/upload", files={"file": sent}).json()["id"]
            run(home, "worker", "--once")
            assert server.state(job) == "done"
        return str(server.client.post("/api/ask", json={"question": check["ask"]}).json()["text"])


def addresses(home: Path, _folder: Path, _check: Check) -> str:
    """Return the status of each address with a slash at its end, and the header for proxies."""
    asked = {
        "model": "chapterhouse",
        "stream": True,
        "messages": [{"role": "user", "content": "x"}],
    }
    run(home, "init")
    with Server(home) as server:
        answers = [
            server.client.post("/mcp/", json=_call("list_personas"), headers=_MCP),
            server.client.get("/v1/models/"),
            server.client.post("/v1/chat/completions/", json=asked),
        ]
    lines = [f"{one.request.url.path} {one.status_code}" for one in answers]
    return " ".join([*lines, answers[-1].headers.get("X-Accel-Buffering", "(no header)")])


_MCP: Final = {"Accept": "application/json, text/event-stream"}
SERVED: Final = {
    "quotations": quotations, "newer upload": newer_upload, "addresses": addresses
}  # fmt: skip


def _call(tool: str, **arguments: str) -> dict[str, Any]:
    parameters = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": parameters}


def check_case(case: Path, checks: Sequence[Check]) -> Iterator[tuple[Check, str, list[str]]]:
    """Yield each check of a case with when it was made, and what was wrong."""
    homes: dict[str, list[Check]] = defaultdict(list)
    for check in checks:
        homes[json.dumps([check.get(one) for one in ("in", "files", "texts")])].append(check)
    for group in homes.values():
        with TemporaryDirectory() as place:
            home, folder = Path(place) / "home", _inputs(case, group[0], Path(place))
            if not any("served" in one and one["served"] != "quotations" for one in group):
                run(home, "add", str(folder))
            for when in ("before", "after"):
                if when == "after":
                    run(home, "model", "embed")
                for check in group:
                    if when == "before" or not check.keys() & {"served", "text", "written"}:
                        yield check, when, list(faults(home, folder, check))


def _inputs(case: Path, check: Check, place: Path) -> Path:
    """Return the folder that is added for a check, made where it is not all of one."""
    folder = case / str(check.get("in", "in"))
    if not check.keys() & {"files", "texts"}:
        return folder
    made = place / folder.name
    made.mkdir()
    for name in check.get("files", ()):
        shutil.copy(folder / name, made / name)
    for name, parts in check.get("texts", {}).items():
        text = parts if isinstance(parts, str) else "".join(one * count for one, count in parts)
        (made / name).write_text(text, "utf-8")
    return made


def main(wanted: Sequence[str]) -> int:
    """Try every check; return the exit status."""
    machine, cases = Machine(), data_folder() / "cases"
    rows, right, tried = [], 0, 0
    for name, checks in tomllib.loads(CHECKS.read_text("utf-8")).items():
        if wanted and not name.startswith(tuple(wanted)):
            continue
        for check, when, wrong in check_case(cases / name, checks):
            kinds = ("ask", "search", "convene", "written", "text", "served")
            asked = next(str(check[kind]) for kind in kinds if kind in check)
            tried, right = tried + 1, right + (not wrong)
            if wrong:
                rows.append((name[:3], when, asked, "; ".join(wrong)))
                print("WRONG", *rows[-1], sep=" | ", flush=True)
    table = Table("What is wrong", ("case", "vectors", "asked", "wrong"), tuple(rows))
    bars = [Bar("share that is right", right / max(tried, 1), least=1.0)]
    title = f"Cases: {right} of {tried} are right"
    return finish("cases", title, bars, [table], machine.setting(), write=not wanted)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
