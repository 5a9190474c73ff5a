import json
import re
import shlex
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]  # no stubs are installed

from chapterhouse.interfaces.cli.main import command
from chapterhouse.interfaces.serving import Address

ROOT = Path(__file__).parent.parent
DEPLOY = ROOT / "deploy"
PORT = Address().port
INSTRUCTIONS = {
    "CMD", "COPY", "ENTRYPOINT", "ENV", "EXPOSE", "FROM", "HEALTHCHECK", "RUN", "STOPSIGNAL",
    "USER", "VOLUME", "WORKDIR",
}  # fmt: skip


def dockerfile() -> list[tuple[str, str]]:
    text = re.sub(r"^#.*\n", "", (DEPLOY / "Dockerfile").read_text("utf-8"), flags=re.MULTILINE)
    lines = text.replace("\\\n", " ").splitlines()
    parts = [line.partition(" ") for line in lines if line.strip()]
    return [(name, " ".join(rest.split())) for name, _, rest in parts]


def the(name: str) -> str:
    return [rest for found, rest in dockerfile() if found == name][-1]


def unit() -> dict[str, list[str]]:
    """Return the values of the unit by name; a name may stand there several times."""
    found: dict[str, list[str]] = {}
    for line in (DEPLOY / "chapterhouse.service").read_text("utf-8").splitlines():
        name, mark, value = line.partition("=")
        if mark and not line.startswith("#"):
            found.setdefault(name, []).append(value)
    return found


def compose() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
    return found


def require_command(words: list[str]) -> dict[str, str]:
    """See that a command line is one of ours; return its options with their values."""
    name, *arguments = words
    entry = command(name)
    while hasattr(entry, "commands"):
        name, *arguments = arguments
        entry = entry.commands[name]
    context = entry.make_context(name, list(arguments))
    return {key: str(value) for key, value in context.params.items()}


def test_every_command_line_is_one_of_ours() -> None:
    program, *words = shlex.split(unit()["ExecStart"][0])
    assert Path(program).name == "chapterhouse"
    assert words[0] == "serve"
    assert int(require_command(words)["port"]) == PORT
    page = (ROOT / "docs" / "serving.md").read_text("utf-8")
    found = re.findall(r"chapterhouse (key create first .*)$", page, re.MULTILINE)
    assert len(found) == 2
    for line in found:
        assert require_command(shlex.split(line))["level"] in {"admin", "AccessLevel.ADMIN"}


def test_ports_names_and_homes_agree() -> None:
    service = compose()["services"]["chapterhouse"]
    assert json.loads(the("ENTRYPOINT")) == ["chapterhouse"]
    assert json.loads(the("CMD"))[0] == "serve"
    server = require_command(json.loads(the("CMD")))
    assert server["host"] == "0.0.0.0"
    assert int(server["port"]) == int(the("EXPOSE")) == PORT
    assert service["ports"] == [f"127.0.0.1:{PORT}:{PORT}"]
    assert f"http://127.0.0.1:{PORT}/api/ready" in the("HEALTHCHECK")
    assert "chapterhouse" in server["allow_host"]  # as other containers call it
    home = dict(re.findall(r"(\w+)=(\S+)", the("ENV")))["CHAPTERHOUSE_HOME"]
    assert home == the("VOLUME")
    (volume,) = service["volumes"]
    name, _, place = volume.partition(":")
    assert place == home
    assert name in compose()["volumes"]


def test_the_image_has_what_the_tests_ran_with() -> None:
    """What runs is pinned by hash, and no version of it is another than in the tests' lock."""

    def pins(name: str) -> dict[str, str]:
        lines = (ROOT / name).read_text("utf-8").replace("\\\n", " ").splitlines()
        found = [re.match(r"(\S+)==(\S+)", line) for line in lines if line.strip()]
        assert all(found)
        assert all("--hash=sha256:" in line for line in lines if line.strip())
        return {one[1]: one[2] for one in found if one}

    run, tested = pins("requirements-run.lock"), pins("requirements.lock")
    assert run.items() <= tested.items()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    needed = [re.split(r"[^\w.-]", one)[0] for one in project["dependencies"]]
    assert {re.sub(r"[-_.]+", "-", name).lower() for name in needed} <= run.keys()
    installs = [part for part in the("RUN").split("&&") if "pip install" in part]
    assert all("--no-deps" in part for part in installs)
    assert "--require-hashes" in installs[0]


def test_the_image_is_built_from_what_git_tracks() -> None:
    instructions = dockerfile()
    assert {name for name, _ in instructions} <= INSTRUCTIONS
    service = compose()["services"]["chapterhouse"]
    context = (DEPLOY / service["build"]["context"]).resolve()
    assert context == ROOT
    assert (context / service["build"]["dockerfile"]).samefile(DEPLOY / "Dockerfile")
    copied = [
        name
        for instruction, rest in instructions
        if instruction == "COPY" and not rest.startswith("--from")
        for name in rest.split()[:-1]
    ]
    assert {"pyproject.toml", "src", "README.md", "LICENSE"} <= set(copied)  # as the wheel needs
    lines = (DEPLOY / "Dockerfile.dockerignore").read_text("utf-8").splitlines()
    assert {line[1:] for line in lines if line.startswith("!")} == set(copied)
    for name in copied:
        assert (ROOT / name).exists(), name
        tracked = subprocess.run(
            ["git", "ls-files", name], cwd=ROOT, capture_output=True, text=True, check=False
        )
        if tracked.returncode:
            pytest.skip("this is no clone: what is tracked is not known")
        assert tracked.stdout, name
