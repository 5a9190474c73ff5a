from pathlib import Path
from typing import Any

import pytest
from tests.served import serving

from chapterhouse.errors import NotFoundError
from chapterhouse.interfaces.api.caller import Caller
from chapterhouse.interfaces.api.state import Exchange
from chapterhouse.library import Library
from chapterhouse.types.access import AccessLevel, AuditOutcome, Grant


def _fail(_: Library) -> None:
    raise NotFoundError("There is no such thing.")


def test_an_exchange_looks_within_what_the_caller_may_see_and_records_what_they_change(
    tmp_path: Path,
) -> None:
    with Library.open(tmp_path) as library:
        for shelf in ("open", "hidden"):
            library.documents.add_text(f"Gulls are {shelf}.", shelf=shelf)
    with serving(tmp_path) as served:
        grant = Grant("key a", AccessLevel.WRITE, None, shelves=("open",))
        exchange = Exchange(served.state, Caller(grant, "default", "1.2.3.4", "1"))
        found: dict[str, Any] = {}

        async def use() -> None:
            found["seen"] = await exchange.look(lambda one: len(tuple(one.documents.list())))
            found["all"] = await exchange.change(
                "count", "all", lambda one: len(tuple(one.documents.list()))
            )
            with pytest.raises(NotFoundError, match="no such thing"):
                await exchange.change("fail", "it", _fail)
            elsewhere = Exchange(served.state, Caller(grant, "nowhere", "", "2"))
            with pytest.raises(NotFoundError, match="no workspace"):
                await elsewhere.look(lambda one: one.workspace)

        served.run(use())
        assert found == {"seen": 1, "all": 2}
        entries = [
            (one.action, one.target, one.outcome, one.address) for one in served.access.entries()
        ]
    assert entries == [
        ("fail", "it", AuditOutcome.FAILED, "1.2.3.4"),
        ("count", "all", AuditOutcome.DONE, "1.2.3.4"),
    ]
