"""The files that install the server say what the program has."""

import configparser
import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]  # no stubs are installed

from chapterhouse.interfaces.api.serving import Address
from chapterhouse.interfaces.cli.main import command

ROOT = Path(__file__).parent.parent
DEPLOY = ROOT / "deploy"
PORT = Address().port
INSTRUCTIONS = {
    "CMD", "COPY", "ENTRYPOINT", "ENV", "EXPOSE", "FROM", "HEALTHCHECK", "RUN", "STOPSIGNAL",
    "USER", "VOLUME", "WORKDIR",
}  # fmt: skip


def dockerfile() -> list[tuple[str, str]]:
    """Return the instructions of the Dockerfile, each with what follows it."""
    text = re.sub(r"^#.*\n", "", (DEPLOY / "Dockerfile").read_text("utf-8"), flags=re.MULTILINE)
    lines = text.replace("\\\n", " ").splitlines()
    parts = [line.partition(" ") for line in lines if line.strip()]
    return [(name, " ".join(rest.split())) for name, _, rest in parts]


def the(name: str) -> str:
    """Return what follows the last instruction of a name."""
    return [rest for found, rest in dockerfile() if found == name][-1]


def unit() -> dict[str, dict[str, list[str]]]:
    """Return the unit's sections; a name may stand there several times."""

    class Several(dict[str, Any]):
        def __setitem__(self, key: str, value: Any) -> None:
            if isinstance(value, list) and isinstance(self.get(key), list):
                value = [*self[key], *value]
            super().__setitem__(key, value)

    parser = configparser.RawConfigParser(dict_type=Several, strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # as documented
    parser.read(DEPLOY / "chapterhouse.service", "utf-8")
    return {
        name: {key: str(value).splitlines() for key, value in parser[name].items()}
        for name in parser.sections()
    }


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


def server_of_the_image() -> dict[str, str]:
    assert json.loads(the("ENTRYPOINT")) == ["chapterhouse"]
    words = json.loads(the("CMD"))
    assert words[0] == "serve"
    return require_command(words)


def test_every_command_line_is_one_of_ours() -> None:
    program, *words = shlex.split(unit()["Service"]["ExecStart"][0])
    assert Path(program).name == "chapterhouse"
    assert words[0] == "serve"
    assert int(require_command(words)["port"]) == PORT
    assert server_of_the_image()["host"] == "0.0.0.0"


def test_the_commands_that_make_the_first_key_are_ours() -> None:
    page = (ROOT / "docs" / "serving.md").read_text("utf-8")
    found = re.findall(r"chapterhouse (key create first .*)$", page, re.MULTILINE)
    assert len(found) == 2
    for line in found:
        assert require_command(shlex.split(line))["level"] in {"admin", "AccessLevel.ADMIN"}


def test_ports_and_names_agree() -> None:
    service = compose()["services"]["chapterhouse"]
    server = server_of_the_image()
    assert int(server["port"]) == int(the("EXPOSE")) == PORT
    assert service["ports"] == [f"127.0.0.1:{PORT}:{PORT}"]
    assert f"http://127.0.0.1:{PORT}/api/ready" in the("HEALTHCHECK")
    assert "chapterhouse" in server["allow_host"]  # as other containers call it


def test_the_home_is_what_outlives_the_container() -> None:
    service = compose()["services"]["chapterhouse"]
    home = dict(re.findall(r"(\w+)=(\S+)", the("ENV")))["CHAPTERHOUSE_HOME"]
    assert home == the("VOLUME")
    (volume,) = service["volumes"]
    name, _, place = volume.partition(":")
    assert place == home
    assert name in compose()["volumes"]


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
    assert {"pyproject.toml", "src"} <= set(copied)
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


def test_the_image_has_what_the_wheel_is_built_from() -> None:
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    copied = " ".join(rest for name, rest in dockerfile() if name == "COPY")
    named = re.findall(r'^(?:readme = |license-files = \[)"?(.+?)"?\]?$', project, re.MULTILINE)
    files = re.findall(r"[\w.]+", " ".join(named))
    assert {"README.md", "LICENSE"} <= set(files)
    assert [name for name in files if name not in copied] == []


def test_nothing_runs_as_root_or_gains_rights() -> None:
    service, section = compose()["services"]["chapterhouse"], unit()["Service"]
    assert the("USER") not in {"root", "0"}
    assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])
    assert "no-new-privileges:true" in service["security_opt"]
    assert section["User"] == ["chapterhouse"]
    assert section["NoNewPrivileges"] == ["yes"]
    assert section["ProtectSystem"] == ["strict"]
    state = section["StateDirectory"][0]
    homes = [line for line in section["Environment"] if line.startswith("CHAPTERHOUSE_HOME=")]
    assert homes == [f"CHAPTERHOUSE_HOME=/var/lib/{state}"]


def test_a_stop_is_waited_for_and_no_failure() -> None:
    section = unit()["Service"]
    assert section["KillSignal"] == ["SIGTERM"]
    assert section["SuccessExitStatus"] == ["130"]  # as the command ends on SIGTERM
    assert int(section["TimeoutStopSec"][0]) > 10
    assert compose()["services"]["chapterhouse"]["stop_grace_period"] == "15s"


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="there is no systemd here")
def test_systemd_reads_the_unit(tmp_path: Path) -> None:
    text = (DEPLOY / "chapterhouse.service").read_text("utf-8")
    program = shlex.split(unit()["Service"]["ExecStart"][0])[0]
    copy = tmp_path / "chapterhouse.service"
    copy.write_text(text.replace(program, "/bin/true"), "utf-8")  # it is not installed here
    found = subprocess.run(
        ["systemd-analyze", "verify", str(copy)], capture_output=True, text=True, check=False
    )
    ours = [line for line in found.stderr.splitlines() if "chapterhouse" in line]
    assert ours == []
