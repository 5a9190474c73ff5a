import json
import re
import shlex
import subprocess
import tomllib
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml  # type: ignore[import-untyped]  # no stubs are installed

from chapterhouse.interfaces.cli.main import command
from chapterhouse.interfaces.serving import Address
from chapterhouse.settings import StoreSettings
from chapterhouse.settings_file import _from_environment

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


def test_several_containers_have_one_database_one_bucket_and_homes_by_pairs() -> None:
    text = (DEPLOY / "compose.several.yaml").read_text("utf-8")
    found = yaml.safe_load(text)
    ours = {n: one for n, one in found["services"].items() if one["image"] == "chapterhouse"}
    assert len([n for n in ours if n.startswith("server")]) == 2
    for name, service in ours.items():
        assert service["build"] == compose()["services"]["chapterhouse"]["build"]
        if name.startswith("worker"):
            require_command(service["command"])
            server = ours[name.replace("worker", "server")]
            assert service["volumes"] == server["volumes"]
        settings = _from_environment(service["environment"])["store"]
        store = StoreSettings.model_validate(settings)
        host = urlsplit(store.address).hostname
        assert host in found["services"]
        address = urlsplit(service["environment"]["AWS_ENDPOINT_URL"])
        objects = found["services"][address.hostname]
        bucket = urlsplit(store.objects).netloc
        assert f"mkdir -p /data/{bucket} " in objects["command"][0]
        assert f"--addr :{address.port}" in objects["command"][0]
        key = service["environment"]["AWS_ACCESS_KEY_ID"]
        assert f'--auth-key "{key},$$OBJECTS_SECRET"' in objects["command"][0]
    mounted = {v.partition(":")[0] for one in found["services"].values() for v in one["volumes"]}
    assert mounted == set(found["volumes"])


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
    extras = project["optional-dependencies"]
    wanted = (*project["dependencies"], *extras["postgres"], *extras["s3"])
    needed = [re.split(r"[^\w.-]", one)[0] for one in wanted]
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
