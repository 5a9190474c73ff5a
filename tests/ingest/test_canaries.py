"""Two hundred documents are used in every way and removed beside a server: no file has a word."""

import os
import re
import time
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Thread

import httpx2
from tests.served import process

from chapterhouse import Library
from chapterhouse.interfaces.admission import read_owner_key

DOCUMENTS, UPLOADS, BY_REQUEST, ASKED = 200, 20, 4, 4
# A word of the text and a word of the name: both begin as nothing else does.
WORD = re.compile(rb"zq(?:text|name)[b-z]{3}")
PACKED = re.compile(rb"\x78[\x01\x5e\x9c\xda]|\x1f\x8b\x08")


def _words(number: int) -> tuple[str, str]:
    letters = "".join("bcdfghjklm"[int(digit)] for digit in f"{number:03}")
    return f"zqtext{letters}", f"zqname{letters}"


def _text(number: int) -> str:
    text, _ = _words(number)
    rest = "Ships come and go, and the tide table hangs beside the door. " * (number % 9)
    long = rest.ljust(70_000) if number % 100 == 0 else rest  # some are kept as blobs
    return f"# The {text.title()} report\n\nA berth at {text} costs {number} crowns.\n\n{long}|\n"


def _streams(data: bytes) -> Iterator[bytes]:
    """Yield the bytes of a file, without the zeros of UTF-16, and what is packed in them."""
    yield data
    yield data.replace(b"\0", b"")
    for match in PACKED.finditer(data):
        inflater = zlib.decompressobj(wbits=47)
        try:
            yield inflater.decompress(data[match.start() : match.start() + 2**20], 2**20)
        except zlib.error:
            continue


def _held(home: Path) -> dict[str, set[str]]:
    """Return the words that are in a file or its name, by its place: no code of ours is asked."""
    held = {}
    for path in home.rglob("*"):
        place = str(path.relative_to(home))
        found = set(WORD.findall(place.encode().lower()))
        for stream in _streams(path.read_bytes()) if path.is_file() else ():
            found.update(WORD.findall(stream.lower()))
        if found:
            held[place] = {word.decode() for word in found}
    return held


def _drain(descriptor: int) -> None:
    """Read what the server tells of its requests, or it waits for somebody who does."""
    with suppress(OSError):  # the server has ended
        while os.read(descriptor, 2**16):
            pass


def _upload(client: httpx2.Client) -> None:
    jobs = []
    for number in range(UPLOADS):
        file = (f"{_words(number)[1]}.md", _text(number).encode())
        jobs.append(client.post("/api/documents/upload", files={"file": file}).json()["id"])
    deadline = time.monotonic() + 300
    while any(client.get(f"/api/jobs/{job}").json()["state"] != "done" for job in jobs):
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_nothing_of_removed_documents_is_in_any_file(tmp_path: Path) -> None:
    home, papers = tmp_path / "home", tmp_path / "papers"
    papers.mkdir()
    (papers / "stays.md").write_text("# What stays\n\nThe keeper of the lighthouse was here.\n")
    for number in range(UPLOADS, DOCUMENTS):
        (papers / f"{_words(number)[1]}.md").write_text(_text(number))
    with Library.open(home) as library:
        library.documents.add(papers)
    log = home / "workspaces" / "default" / "background" / "log"
    with process(home, "--memory") as (server, url):
        assert server.stderr
        Thread(target=_drain, args=(server.stderr.fileno(),), daemon=True).start()
        key = {"Authorization": f"Bearer {read_owner_key(home)}"}
        with httpx2.Client(base_url=url, headers=key, timeout=300.0) as client:
            _upload(client)
            for number in range(0, DOCUMENTS, ASKED):
                question = {"question": f"What does a berth at {_words(number)[0]} cost?"}
                answer = client.post("/api/ask", json=question).json()
                assert f"costs {number} crowns" in answer["text"], answer
                assert answer["citations"]
            foreign = {"question": "Which vaccine and insurance does a berth of parrots need?"}
            answer = client.post("/api/ask", json=foreign).json()
            assert answer["outcome"] == "not-found"
            assert "Zqtext" in str(answer["searched"]["nearest"])
            log.parent.mkdir(exist_ok=True)
            with log.open("a") as stream:  # as a process that failed of one
                stream.write(f"papers/{_words(150)[1]}.md\nnothing else\n")
            assert set().union(*_held(home).values()) >= {
                word for number in range(DOCUMENTS) for word in _words(number)
            }
            with Library.open(home) as library:
                listed = {one.source: one.id for one in library.documents.list()}
                listed.pop("papers/stays.md")
                removed = sorted(listed.values())
            assert len(removed) == DOCUMENTS
            for name in removed[:BY_REQUEST]:
                assert client.delete(f"/api/documents/{name}").json()["state"] == "removed"
            with Library.open(home) as library:
                for some in (removed[BY_REQUEST::2], removed[BY_REQUEST + 1 :: 2]):
                    removal = library.documents.remove(*some)
                    assert removal.state.value == "removed", removal.search
            assert _held(home) == {}  # while it runs
            found = client.post("/api/documents/search", json={"query": "zqtextbcd berth costs"})
            assert "zq" not in str(found.json()["hits"])
            found = client.post("/api/documents/search", json={"query": "keeper lighthouse"})
            assert found.json()["hits"]
    assert _held(home) == {}
    assert log.read_text().endswith("nothing else\n")
