import zipfile
from pathlib import Path
from typing import Any

import pytest
from tests.access_parts import PASSWORD, stored_bytes
from tests.interfaces.cli.conftest import on_a_terminal

from chapterhouse.interfaces.cli.main import command
from chapterhouse.library.opening import open_access

NOBODY = "ch_00000000_" + "a" * 43


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """The home that commands use; it is not there yet."""
    return tmp_path / "home"


def test_a_key_is_shown_once(chapterhouse: Any, place: Path) -> None:
    made = chapterhouse("key", "create", "nightly backup", "--level", "write", "--days", "3")
    assert made.code == 0
    secret = made.out.removesuffix("\n")
    key_id = secret[:11]
    assert made.err == f"The key {key_id} is not shown again: store it now.\n"
    access = open_access(place)
    grant = access.authenticate(secret)
    access.close()
    assert grant is not None
    assert (grant.name, grant.level.value, grant.workspaces) == (
        f"key {key_id}",
        "write",
        ("default",),
    )
    assert grant.is_whole
    listed = chapterhouse("key", "list")
    assert f"{key_id}  nightly backup  write  default" in listed.out
    assert secret not in listed.out + chapterhouse("audit").out


def test_a_key_has_the_limits_that_were_named(chapterhouse: Any) -> None:
    limits = ("--in", "b", "--in", "a", "--shelf", "papers", "--persona", "maria")
    data = chapterhouse("key", "create", "x", *limits, "--json").data
    assert data["secret"].startswith(data["id"])
    assert (data["level"], data["workspaces"]) == ("read", ["a", "b"])
    assert (data["shelves"], data["personas"], data["expires"]) == (["papers"], ["maria"], 0)
    here = chapterhouse("key", "create", "x", "--workspace", "notes", "--json").data
    assert (here["workspaces"], here["shelves"], here["personas"]) == (["notes"], None, None)
    everywhere = chapterhouse("key", "create", "x", "--all-workspaces", "--json").data
    assert everywhere["workspaces"] is None
    both = chapterhouse("key", "create", "x", "--all-workspaces", "--in", "a")
    assert both.code == 2
    assert "exclude each other" in both.err
    assert chapterhouse("key", "create", "x", "--in", "../a").code == 2
    assert chapterhouse("key", "create", "x", "--level", "owner").code == 2
    assert len(chapterhouse("key", "list", "--json").data) == 3


def test_a_key_is_revoked_after_a_question(chapterhouse: Any) -> None:
    key_id = chapterhouse("key", "create", "x", "--json").data["id"]
    assert chapterhouse("key", "revoke", key_id).code == 10
    looked = chapterhouse("key", "revoke", key_id, "--dry-run", "--json").data
    assert (looked["key"]["revoked"], looked["dry_run"]) == (0, True)
    assert chapterhouse("key", "list", "--json").data[0]["active"] is True
    done = chapterhouse("key", "revoke", key_id, "--yes")
    assert (done.code, done.out) == (0, f"The key {key_id} (x) is revoked.\n")
    (listed,) = chapterhouse("key", "list", "--json").data
    assert listed["active"] is False
    assert "revoked 20" in chapterhouse("key", "list").out
    assert listed["revoked"] >= listed["created"] > 0
    assert chapterhouse("key", "revoke", "ch_00000000", "--yes").code == 3
    no_id = chapterhouse("key", "revoke", NOBODY, "--yes")
    assert no_id.code == 2
    assert NOBODY not in no_id.err


def test_users_come_and_go(chapterhouse: Any, say: Any, place: Path) -> None:
    added = say(f"{PASSWORD}\n", "user", "add", "ada", "--password-stdin", "--in", "notes")
    assert (added.code, added.out) == (0, "User ada (read, notes) is added.\n")
    again = say(f"{PASSWORD}\n", "user", "add", "Ada", "--password-stdin")
    assert again.code == 2
    assert "already" in again.err
    access = open_access(place)
    session = access.log_in("ada", PASSWORD)
    assert session is not None
    changed = say("other words than these\r\n", "user", "password", "ada", "--password-stdin")
    assert changed.code == 0
    assert access.authenticate_session(session.secret) is None
    assert access.log_in("ada", "other words than these")
    access.close()
    assert chapterhouse("user", "disable", "ADA", "--json").data["disabled"] > 0
    assert "disabled 2" in chapterhouse("user", "list").out
    assert chapterhouse("user", "enable", "ada", "--json").data["disabled"] == 0
    assert chapterhouse("user", "remove", "ada").code == 10
    assert chapterhouse("user", "remove", "ada", "--dry-run").code == 0
    assert len(chapterhouse("user", "list", "--json").data) == 1
    assert chapterhouse("user", "remove", "ada", "--yes").code == 0
    assert chapterhouse("user", "list").out.startswith("No users.")
    for verb in ("disable", "enable", "remove"):
        assert chapterhouse("user", verb, "ada").code == 3
    assert say(PASSWORD, "user", "password", "ada", "--password-stdin").code == 3
    assert PASSWORD.encode() not in stored_bytes(place)


def test_a_user_has_the_limits_that_were_named(chapterhouse: Any, say: Any) -> None:
    limits = ("--in", "notes", "--shelf", "papers", "--shelf", "letters", "--persona", "maria")
    added = say(f"{PASSWORD}\n", "user", "add", "ada", "--password-stdin", *limits)
    permitted = "read, notes, shelves: letters, papers; personas: maria"
    assert (added.code, added.out) == (0, f"User ada ({permitted}) is added.\n")
    (listed,) = chapterhouse("user", "list", "--json").data
    assert (listed["shelves"], listed["personas"]) == (["letters", "papers"], ["maria"])
    wrong = say(f"{PASSWORD}\n", "user", "add", "eve", "--password-stdin", "--shelf", "../a")
    assert wrong.code == 2


def test_a_password_is_never_an_argument(chapterhouse: Any) -> None:
    for verb in ("add", "password"):
        found = command("user").commands[verb]
        options = {text for parameter in found.params for text in parameter.opts}
        assert {text for text in options if "password" in text} == {"--password-stdin"}
        assert chapterhouse("user", verb, "ada", PASSWORD).code == 2
    nobody_there = chapterhouse("user", "add", "ada")
    assert nobody_there.code == 2
    assert "--password-stdin" in nobody_there.err


def test_a_password_is_typed_unseen(place: Path) -> None:
    typed = (b": ", f"{PASSWORD}\n".encode())
    code, shown = on_a_terminal(("-m", "chapterhouse", "user", "add", "ada"), typed, typed)
    assert code == 0, shown
    assert "it is not shown" in shown
    assert PASSWORD not in shown
    access = open_access(place)
    assert access.log_in("ada", PASSWORD)
    access.close()


def test_access_leaves_the_home_with_no_export(
    chapterhouse: Any, home: Path, tmp_path: Path
) -> None:
    made = chapterhouse("key", "create", "x", "--json").data
    assert chapterhouse("export", tmp_path / "archive.zip").code == 0
    shown = chapterhouse("doctor", "--json").out
    with zipfile.ZipFile(tmp_path / "archive.zip") as opened:
        names = opened.namelist()
        content = b"".join(map(opened.read, names))
    assert "library.db" in {Path(name).name for name in names}
    assert not [name for name in names if "access" in name]
    for text in (made["id"], made["secret"]):
        assert (text.encode() in content, text in shown) == (False, False)
