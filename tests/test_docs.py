import importlib.util
import json
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from tests.served import process

from chapterhouse.reading.limits import NOTICES, REJECTIONS
from chapterhouse.settings import Settings
from chapterhouse.settings_file import load_settings

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"^```(?P<language>\w+)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
LARGE = "CHAPTERHOUSE_LARGE" in os.environ
SERVER = "http://127.0.0.1:8431"  # as pages write it
# Codes that readers, connectors and the life cycle give to files, where they are raised.
RAISED = re.compile(r"""(?:RejectedError|Notice|_rejected)\(\s*(?:file, )?"([a-z-]+)",""")


def blocks(page: Path, language: str) -> list[str]:
    return [
        match["code"]
        for match in BLOCK.finditer(page.read_text("utf-8"))
        if match["language"] == language
    ]


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


REFERENCE = load(ROOT / "scripts" / "reference.py")
COMMANDS = REFERENCE.commands()
PAGES = REFERENCE.PAGES
PARTS = REFERENCE.parts()


def test_generated_parts_are_up_to_date() -> None:
    texts = {page.name: page.read_text("utf-8") for page in PAGES}
    stale = [
        name
        for name, text in texts.items()
        if not REFERENCE.is_same(text, REFERENCE.rendered(text, PARTS))
    ]
    assert stale == [], "run scripts/reference.py"


def test_every_command_has_its_section_and_options() -> None:
    page = (ROOT / "docs" / "cli.md").read_text("utf-8")
    for command, found in COMMANDS.items():
        assert f"\n## chapterhouse {command}\n" in page
        assert f"<!-- generated: options of {command} -->" in page
        assert [parameter.name for parameter in found.params if not parameter.help] == []
        assert {parameter.name for parameter in found.params} >= REFERENCE.COMMON


def test_every_command_line_shown_is_one_that_exists() -> None:
    shown = (block for page in PAGES for name in ("sh", "console") for block in blocks(page, name))
    for block in shown:
        for line in block.splitlines():
            words = (
                shlex.split(line.removeprefix("$ "), comments=True)
                if "chapterhouse " in line
                else []
            )
            if words[:1] != ["chapterhouse"] or words[1].startswith("--"):
                continue
            names = [" ".join(words[1:end]) for end in (2, 3, 4)]
            name = next((name for name in names if name in COMMANDS), line)
            assert name in COMMANDS, line
            spelt = {option for parameter in COMMANDS[name].params for option in parameter.opts}
            assert {word for word in words if word.startswith("--")} <= spelt | {"--help"}, line


@pytest.mark.parametrize(
    "line",
    [
        'ask "How many passengers may MV Teal carry under amber?" --no-memory',
        'search "leading lights"', 'context "amber weather"', "status", "source list",
        "analytics show",
    ],
)  # fmt: skip
def test_the_json_of_commands_is_documented(line: str) -> None:
    page = (ROOT / "docs" / "cli.md").read_text("utf-8")
    name = next(name for name in COMMANDS if f"{line} ".startswith(f"{name} "))
    section = page.partition(f"\n## chapterhouse {name}\n")[2].partition("\n## ")[0]
    told = set(re.findall(r"`([a-z0-9_]+)`", section))
    home = REFERENCE.example_home()
    data = json.loads(REFERENCE.run_command([*shlex.split(line), "--json"], home))["data"]
    parts = [data] if isinstance(data, dict) else []
    if name == "ask":
        parts += [data["sentences"][0], data["citations"][0]]
    assert sorted({key for part in parts for key in part} - told) == []


def test_every_code_that_is_raised_is_documented() -> None:
    page = (ROOT / "docs" / "formats.md").read_text("utf-8")
    raised = {
        code
        for folder in ("reading", "connectors", "ingest", "text")
        for path in (ROOT / "src" / "chapterhouse" / folder).glob("*.py")
        for code in RAISED.findall(path.read_text("utf-8"))
    }
    assert "symbolic-link" in raised
    assert sorted(code for code in raised if f"`{code}`" not in page) == []


def test_every_documented_code_exists() -> None:
    page = (ROOT / "docs" / "formats.md").read_text("utf-8")
    sources = (ROOT / "src" / "chapterhouse").rglob("*.py")
    raised = {code for path in sources for code in RAISED.findall(path.read_text("utf-8"))}
    told = set(re.findall(r"^\| `([a-z-]+)` \|", page.partition("## Codes of")[2], re.MULTILINE))
    assert told >= {*REJECTIONS, *NOTICES}
    assert sorted(told - {*REJECTIONS, *NOTICES, *raised}) == []


def test_every_setting_is_documented_with_its_default() -> None:
    page = (ROOT / "docs" / "settings.md").read_text("utf-8")
    shown = dict(re.findall(r"^\| `([a-z0-9_.]+)` \| `(.+?)` \| .+ \|$", page, re.MULTILINE))
    known = {
        f"{group}.{name}": json.dumps(default)
        for group, values in Settings().model_dump().items()
        for name, default in values.items()
    }
    assert shown == known


def test_toml_blocks_are_settings(tmp_path: Path) -> None:
    for block in blocks(ROOT / "docs" / "settings.md", "toml"):
        (tmp_path / "chapterhouse.toml").write_text(block, "utf-8")
        assert load_settings(tmp_path, tmp_path / "workspace") != Settings()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A server for all pages that call one: its home and its address."""
    home = tmp_path_factory.mktemp("served") / "home"
    with process(home) as (_, url):
        yield home, url


@pytest.mark.parametrize(
    "page", [page for page in PAGES if blocks(page, "python")], ids=lambda page: page.name
)
def test_python_blocks_run(
    page: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
    capfd: pytest.CaptureFixture[str],  # a page may start processes that write
) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    code = "\n".join(blocks(page, "python"))
    if SERVER in code:
        home, url = request.getfixturevalue("server")
        monkeypatch.setenv("CHAPTERHOUSE_HOME", str(home))
        code = code.replace(SERVER, url)
    script = tmp_path / "page.py"
    script.write_text(code, "utf-8")
    runpy.run_path(str(script), run_name="__main__")
    assert capfd.readouterr().out


def commands_shown(page: Path) -> list[tuple[str, str]]:
    found = []
    for block in blocks(page, "console"):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            found.append((command, output.strip()))
    return found


@pytest.mark.large
@pytest.mark.skipif(not (LARGE and shutil.which("curl")), reason="in `make soak`, with curl")
def test_calls_of_the_server_print_what_is_shown(tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / "Chapterhouse").symlink_to(tmp_path / "home")
    shown = commands_shown(ROOT / "docs" / "serving.md")
    assert len(shown) > 15
    own = f'chapterhouse() {{ {shlex.quote(sys.executable)} -m chapterhouse "$@"; }}'
    mark = "--- the next command ---"
    script = "\n".join((own, *(f"{command}; echo; echo {mark!r}" for command, _ in shown)))
    with process(tmp_path / "home") as (_, url):
        run = subprocess.run(
            ["bash", "-c", script.replace(SERVER, url)],
            cwd=tmp_path,
            env={
                **os.environ, "CHAPTERHOUSE_HOME": str(tmp_path / "home"), "HOME": str(tmp_path)
            },
            capture_output=True, text=True, check=False, timeout=120,
        )  # fmt: skip
    printed = run.stdout.split(mark)
    assert len(printed) == len(shown) + 1, run.stderr
    for (command, expected), output in zip(shown, printed, strict=False):
        pattern = re.escape(expected).replace("…\\\n", "(.*\n)?").replace("…", ".*")
        assert re.fullmatch(pattern, output.strip(), re.DOTALL), f"$ {command}\n{output}"


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_links_lead_somewhere() -> None:
    link = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)]*))?\)")
    others = ["ARCHITECTURE.md", "CONTRIBUTING.md", "examples/README.md", "benchmarks/README.md"]
    pages = {*PAGES, *map(ROOT.joinpath, others), *(ROOT / "docs").rglob("*.md")}
    for page, (name, anchor) in ((p, f) for p in pages for f in link.findall(p.read_text("utf-8"))):
        target = page.parent / name if name else page
        assert target.exists(), f"{page.name}: {name}"
        assert not anchor or anchor in anchors(target), f"{page.name}: {name}#{anchor}"


def test_pages_that_messages_name_exist() -> None:
    named = re.compile(r"docs/[A-Za-z-]+\.md(?!\w)")
    modules = [*(ROOT / "src").rglob("*.py"), *(path for path in (ROOT / "deploy").iterdir())]
    found = {name for path in modules for name in named.findall(path.read_text("utf-8"))}
    assert len(found) > 5
    assert [name for name in found if not (ROOT / name).is_file()] == []
