"""What people see of keys, users and the audit log."""

from collections.abc import Iterator
from dataclasses import replace

from chapterhouse.interfaces.cli import render_access
from chapterhouse.presenting.blocks import Block, Columns
from chapterhouse.types import AccessLevel, ApiKey, AuditEntry, User

KEY = ApiKey("ch_00000000", "x", AccessLevel.READ, ("a", "b"), None, None, 1, "ada")


def rows(blocks: Iterator[Block]) -> list[list[str]]:
    (table,) = blocks
    assert isinstance(table, Columns)
    return [list(row) for row in table.rows[1:]]


def test_a_key_shows_its_limits_and_whether_it_lets_in() -> None:
    found = (
        KEY,
        replace(KEY, workspaces=None, shelves=(), personas=("maria",), last_used=1_700_000_000),
        replace(KEY, expires=1_700_000_000),
        replace(KEY, expires=99),
        replace(KEY, revoked=60),
    )
    shown = rows(render_access.keys(found, 100))
    assert shown[0][3:] == ["a, b", "", "active", ""]
    assert shown[1][3:] == [
        "all",
        "shelves: none; personas: maria",
        "active",
        "2023-11-14 22:13 UTC",
    ]
    assert [row[5] for row in shown[2:]] == [
        "until 2023-11-14 22:13 UTC",
        "expired",
        "revoked 1970-01-01 00:01 UTC",
    ]


def test_a_user_shows_where_and_whether_they_may_log_in() -> None:
    user = User("ada", AccessLevel.ADMIN, None, 60, "command line")
    shown = rows(render_access.users((user, replace(user, workspaces=("a",), disabled=120))))
    assert shown[0] == ["ada", "admin", "all", "active", "1970-01-01 00:01 UTC"]
    assert shown[1][2:4] == ["a", "disabled 1970-01-01 00:02 UTC"]


def test_an_entry_is_a_line() -> None:
    entry = AuditEntry(60, "user ada", "key.create", "ch_0", workspace="notes", address="::1", id=7)
    (shown,) = rows(render_access.entries((entry,)))
    assert shown == [
        *("7", "1970-01-01 00:01 UTC", "user ada", "key.create", "ch_0"),
        *("done", "notes", "::1"),
    ]
