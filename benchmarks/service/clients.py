"""Clients of others against a server: generated TypeScript types, the OpenAI client, the MCP SDK.

    python benchmarks/service/clients.py

Fetches ``openapi-typescript`` and ``typescript`` from npm into a temporary folder. The types that
are generated from the server's own description must compile in strict mode together with a program
that uses them; that program then runs against the server.
"""

import asyncio
import json
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

sys.path.append(str(Path(__file__).parents[1]))
sys.path.append(str(Path(__file__).parents[2]))

import httpx2
import openai
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from tests.served import TEXTS, Served, serving

from chapterhouse.library import Library
from measuring import RESULTS, Bar, Machine, bar_cells, markdown_table

PACKAGES: Final = ("openapi-typescript@7", "typescript@5", "openapi-fetch@0.17")
QUESTION: Final = "When does the ferry leave the harbour?"
PROGRAM: Final = """\
import createClient from "openapi-fetch";
import type { components, paths } from "./api";

const [url, key] = process.argv.slice(2) as [string, string];
const client = createClient<paths>({ baseUrl: url, headers: { Authorization: `Bearer ${key}` } });

async function main(): Promise<void> {
  const { data, error } = await client.POST("/api/ask", { body: { question: "QUESTION" } });
  if (error || !data) throw new Error(JSON.stringify(error));
  const citation: components["schemas"]["CitationResult"] | undefined = data.citations[0];
  const list = await client.GET("/api/documents", { params: { query: { limit: 1 } } });
  const missing = await client.GET("/api/documents/{document_id}", {
    params: { path: { document_id: "none" } },
  });
  console.log(JSON.stringify({
    outcome: data.outcome,
    quote: citation?.quote ?? "",
    documents: list.data?.documents.length ?? 0,
    missing: missing.response.status,
  }));
}

main().catch((problem) => { console.error(problem); process.exit(1); });
"""
CONFIGURATION: Final = {
    "compilerOptions": {
        "strict": True,
        "noUncheckedIndexedAccess": True,
        "target": "es2022",
        "module": "nodenext",
        "moduleResolution": "nodenext",
        "types": ["node"],
        "outDir": "out",
    },
    "files": ["program.ts"],
}


def typescript(served: Served, key: str) -> dict[str, object]:
    """Return what a program with generated types prints, once they compile."""
    with TemporaryDirectory(prefix="chapterhouse-types-") as name:
        folder = Path(name)
        (folder / "package.json").write_text('{"type": "module", "private": true}')
        _run(folder, "npm", "install", "--silent", *PACKAGES, "@types/node@20")
        with served.client(key) as client:
            (folder / "openapi.json").write_text(client.get("/api/openapi.json").text)
        _run(
            folder,
            *("npx", "openapi-typescript", "openapi.json", "-o", "api.d.ts"),
            "--default-non-nullable=false",  # what has a default may be left out
        )
        (folder / "program.ts").write_text(
            PROGRAM.replace("QUESTION", QUESTION).replace('"./api"', '"./api.js"')
        )
        (folder / "tsconfig.json").write_text(json.dumps(CONFIGURATION))
        _run(folder, "npx", "tsc", "--project", "tsconfig.json")
        printed = _run(folder, "node", "out/program.js", served.url, key)
    found: dict[str, object] = json.loads(printed)
    return found


def _run(folder: Path, *command: str) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}:\n{done.stdout}\n{done.stderr}")
    return done.stdout


def through_openai(served: Served, key: str) -> str:
    """Return the answer that the official client gets."""
    with openai.OpenAI(base_url=f"{served.url}/v1", api_key=key) as client:
        answer = client.chat.completions.create(
            model="chapterhouse", messages=[{"role": "user", "content": QUESTION}]
        )
    return answer.choices[0].message.content or ""


async def through_mcp(served: Served, key: str) -> str:
    """Return the answer that the MCP SDK's client gets."""
    headers = {"Authorization": f"Bearer {key}"}
    async with httpx2.AsyncClient(headers=headers) as http:
        transport = streamable_http_client(f"{served.url}/mcp", http_client=http)
        async with Client(transport) as client:
            answer = await client.call_tool("ask", {"question": QUESTION})
    return str((answer.structured_content or {}).get("text", ""))


def main() -> None:
    """Let each client ask the same, and write what came of it."""
    if not shutil.which("npm"):
        raise SystemExit("npm is not installed: the TypeScript types cannot be compiled.")
    machine = Machine()
    with TemporaryDirectory() as folder:
        for name, text in TEXTS.items():
            (Path(folder) / name).write_text(text)
        with Library.open(Path(folder) / "home") as library:
            library.documents.add(Path(folder) / "ferry.md")
        with serving(Path(folder) / "home") as served:
            key = served.key("read")
            types = typescript(served, key)
            answers = [through_openai(served, key), asyncio.run(through_mcp(served, key))]
    bars = [
        Bar("TypeScript program compiled strictly and ran", float(types["outcome"] == "answer"), 1),
        Bar("its documents", float(str(types["documents"])), least=1),
        Bar("its status of a missing document", float(str(types["missing"])), least=404),
        Bar("clients with the cited answer", sum("at nine" in one for one in answers), least=2),
    ]
    lines = ["# Clients of others", "", "Measured by `benchmarks/service/clients.py`:"]
    lines += [str(machine.setting("openai", "mcp")), ""]
    lines += markdown_table(("bar", "measured", "bound", ""), [bar_cells(one) for one in bars])
    (RESULTS / "service_clients.md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
