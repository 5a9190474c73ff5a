"""A file that is sent again over HTTP, and what the answers say of the older one."""

from pathlib import Path

import pytest
from tests.served import Served

from chapterhouse.interfaces.client import Client, ServiceError


def test_a_newer_version_replaces_the_older_one_unless_both_stay(
    served: Served, tmp_path: Path
) -> None:
    file = tmp_path / "beacons.md"
    with Client(served.url, key=served.key()) as client:

        def send(text: str, *, retain_both: bool = False) -> object:
            file.write_text(f"# Beacons\n\nThe beacon is lit at {text}.\n")
            job = client.upload(file, retain_both=retain_both)
            served.work()
            job = client.wait(job)
            assert job.state == "done"
            return job.result["replaced"]

        assert send("seven") == []
        (old,) = client.documents(text="beacons")
        assert send("eight") == [{"id": old.id, "source": old.source}]
        (new,) = client.documents(text="beacons")
        assert "eight" in client.content(new.id).text
        with pytest.raises(ServiceError, match="There is no document"):
            client.document(old.id)
        assert send("nine", retain_both=True) == []
        assert len(list(client.documents(text="beacons"))) == 2


def test_what_else_is_to_stay_is_refused(served: Served) -> None:
    with served.client(served.key("write")) as client:
        answer = client.post(
            "/api/documents/upload", files={"file": ("a.md", b"# A\n")}, data={"keep": "neither"}
        )
        assert answer.status_code == 400
        assert "'keep' is 'both' or empty" in answer.text
