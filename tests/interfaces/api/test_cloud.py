from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.clouds import Drive
from tests.served import Served, serving

from chapterhouse.library import Library

TEXT = "# Berths\n\nA berth of twelve metres costs eighty crowns a night.\n"


@pytest.fixture
def served(drive: Drive, tmp_path: Path) -> Iterator[Served]:
    """A server whose rclone knows one drive; over the module's own, which knows none."""
    drive.write("Papers/berths.md", TEXT)
    drive.write("Papers/old/tides.md", "# Tides\n\nSlack water lasts eleven minutes.\n")
    for workspace in ("default", "other"):
        Library.open(tmp_path / "served", workspace).close()
    with serving(tmp_path / "served") as found:
        yield found


def test_a_drive_is_browsed_and_read_by_a_job(served: Served) -> None:
    with served.client(served.key("write")) as client:
        assert client.get("/api/cloud-sync/folders").json()["folders"] == ["webdav:"]
        listed = client.get("/api/cloud-sync/folders?place=webdav:Papers").json()
        assert listed == {"place": "webdav:Papers", "folders": ["old"]}

        def statuses(recursive: str = "1") -> dict[str, str]:
            query = {"place": "webdav:Papers", "recursive": recursive}
            found = client.get("/api/cloud-sync/files", params=query).json()["files"]
            return {one["path"]: one["status"] for one in found}

        assert statuses() == {"berths.md": "not-synced", "old/tides.md": "not-synced"}
        assert set(statuses("0")) == {"berths.md"}
        assert client.get("/api/cloud-sync/jobs").json() == {"jobs": []}
        order = client.post(
            "/api/cloud-sync/sync", json={"place": "webdav:Papers", "shelf": "papers"}
        )
        assert (order.status_code, order.json()["state"]) == (202, "pending")
        client.post("/api/documents/text", json={"text": "Not of a drive."})
        listed_jobs = client.get("/api/cloud-sync/jobs").json()["jobs"]
        assert [one["id"] for one in listed_jobs] == [order.json()["id"]]
        served.work()
        assert client.get("/api/cloud-sync/jobs").json()["jobs"][0]["state"] == "done"
        assert set(statuses().values()) == {"current"}
        assert len(client.get("/api/documents/?shelf=papers").json()["documents"]) == 2

        sent = client.post("/api/cloud-sync/sync", json={"place": ":local:/etc"})
        assert sent.status_code == 400
        assert [one["name"] for one in client.get("/api/sources").json()["sources"]] == ["Papers"]
        with served.client(served.key("read"), "other") as other:
            assert other.get("/api/cloud-sync/jobs").json() == {"jobs": []}
