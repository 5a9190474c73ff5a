import asyncio
import threading
import time
from collections.abc import AsyncIterator
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.council.meeting.session import MeetingOptions
from chapterhouse.errors import NotFoundError
from chapterhouse.interfaces import service as service_module
from chapterhouse.interfaces.service import Service, explain, hide_folder, without_paths
from chapterhouse.interfaces.values import meeting_events


def service() -> Service:
    return Service(lambda: nullcontext(cast("Any", None)))


def test_work_runs_side_by_side_up_to_a_limit() -> None:
    at_work, most, lock = 0, 0, threading.Lock()

    def work(_: object) -> int:
        nonlocal at_work, most
        with lock:
            at_work += 1
            most = max(most, at_work)
        time.sleep(0.02)
        with lock:
            at_work -= 1
        return 7

    async def many() -> list[int]:
        shared = service()
        return await asyncio.gather(*(shared.look(work) for _ in range(20)))

    assert asyncio.run(many()) == [7] * 20
    assert 1 < most <= 4


def test_a_blocking_search_that_is_given_up_keeps_its_place_until_it_ends() -> None:
    async def given_up() -> None:
        shared, go_on = service(), threading.Event()
        calls = [asyncio.create_task(shared.look(lambda _: go_on.wait(10))) for _ in range(4)]
        await asyncio.sleep(0.05)
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        waiting = asyncio.create_task(shared.look(lambda _: "free"))
        await asyncio.sleep(0.05)
        assert not waiting.done()
        go_on.set()
        assert await asyncio.wait_for(waiting, 5) == "free"

    asyncio.run(given_up())


def test_errors_are_told_in_a_sentence() -> None:
    gone = "There is no library in {} (workspace 'default')."
    for error, expected in (
        (NotFoundError("No 'x'.", hint="Look."), "No 'x'. Look."),
        (NotFoundError(gone.format("/home/ann/Chapterhouse")), gone.format("Chapterhouse")),
        (NotFoundError("It is in ~/Papers/a/tides.pdf."), "It is in tides.pdf."),
        (PermissionError(13, "Denied", "/home/ann/x"), "The system refused: Denied."),
        (
            ZeroDivisionError("/home/ann by zero"),
            "Unexpected ZeroDivisionError. Details are in the server's log.",
        ),
        (NotFoundError("a\x1b[2J\u202eb"), "a[2Jb"),
    ):
        assert explain(error) == expected
    for sentence in (
        "Ask and/or search.",
        "See https://example.org/a/b.html for 1/2 of it.",
        "Give persona=x, 3/4 or documents/tides.md.",
    ):
        assert without_paths(sentence) == sentence


SENTENCES = (
    "Could not read '{}'.",
    "{} is damaged.",
    "path:{} is not there: it was moved.",
    "See file://{}, or https://example.org/a/b.html.",
    "There are 3 faults (in {})",
)
_FOLDERS = st.lists(st.text("abxyz ,()[]{}&+=#.-_0é", min_size=1), min_size=1, max_size=5)
_NAMES = st.text("abcxyz-_0", min_size=1)


@given(st.sampled_from(SENTENCES), _FOLDERS, _NAMES, st.sampled_from(["/{}", "C:\\{}", "~/{}"]))
def test_of_a_path_only_its_last_name_is_told(
    sentence: str, folders: list[str], name: str, form: str
) -> None:
    """Folders are named anyhow; what ends a sentence in them is for those that are known."""
    named = [f"zq{one.replace('. ', '')}zq" for one in folders]
    path = form.format(("\\" if "C" in form else "/").join((*named, name)))
    told = without_paths(sentence.format(path))
    assert "zq" not in told, told
    assert name in told


@given(
    st.sampled_from(SENTENCES),
    st.lists(
        st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1),
        min_size=1, max_size=3,
    ),
    _NAMES,
)  # fmt: skip
def test_of_a_known_folder_nothing_is_told_whatever_its_name_is(
    sentence: str, folders: list[str], name: str
) -> None:
    plain = sentence.replace("file://", "")
    home = f"/srv/{'/'.join(f'zq{one}zq' for one in folders)}"
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(service_module, "_HIDDEN", {})
        hide_folder(Path(home), "the home")
        assert without_paths(sentence.format(home)) == plain.format("the home")
        told = without_paths(sentence.format(f"{home}/workspaces/default/{name}"))
        assert told == plain.format(name)


def test_what_a_meeting_writes_is_thrown_away_unless_it_is_remembered() -> None:
    places: list[Path | None] = []

    async def events(_council: str, _question: str, options: MeetingOptions) -> AsyncIterator[int]:
        places.append(options.transcript)
        assert options.transcript is None or options.transcript.parent.is_dir()
        yield 1

    async def meet() -> None:
        library = cast("Any", SimpleNamespace(councils=SimpleNamespace(events=events)))
        for remember in (True, False):
            options = MeetingOptions(remember=remember)
            found = [one async for one in meeting_events(library, "board", "Why?", options)]
            assert found == cast("Any", [1])

    asyncio.run(meet())
    assert places[0] is None
    assert places[1] is not None
    assert not places[1].parent.exists()
