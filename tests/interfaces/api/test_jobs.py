from tests.served import Served

from chapterhouse.library import Library
from chapterhouse.store.connections import Connections


def test_a_job_that_waits_is_cancelled_and_tried_again(served: Served) -> None:
    with served.client(served.key("write")) as client:
        file = {"file": ("owls.md", b"# Owls\n\nOwls sleep by day.\n")}
        path = f"/api/jobs/{client.post('/api/documents/upload', files=file).json()['id']}"
        assert client.post(f"{path}/cancel").json()["state"] == "cancelled"
        again = client.post(f"{path}/retry")
        assert (again.status_code, again.json()["state"]) == (202, "pending")
        served.work()
        assert client.get(f"/api/jobs/{again.json()['id']}").json()["state"] == "done"
        file = {"file": ("setup.exe", b"MZ\x90\x00\x03" + bytes(range(256)) * 8)}
        sent = client.post("/api/documents/upload", files=file).json()
        served.work()
        job = client.get(f"/api/jobs/{sent['id']}").json()
        assert (job["state"], bool(job["error"])) == ("failed", True)
        assert client.post("/api/jobs/j999/retry").status_code == 404


def test_a_job_that_meets_a_full_disk_says_why_it_waits(served: Served) -> None:
    Library.open(served.home, "full").close()
    with served.client(served.key("write"), "full") as client:
        file = {"file": ("tide.md", b"# Tide\n\n" + b"The tide turns at four. " * 10_000)}
        path = f"/api/jobs/{client.post('/api/documents/upload', files=file).json()['id']}"
        with Library.open(served.home, "full") as library:
            connections = library._runtime.store._connections
            assert isinstance(connections, Connections)
            writer = connections._writer
            writer.pragma("max_page_count", writer.pragma("page_count"))
            library.jobs.work(once=True)
        waiting = client.get(path).json()
        assert waiting["state"] == "pending"
        assert "no space left" in waiting["error"]
        assert waiting["waits_until"] > waiting["created"]
        with Library.open(served.home, "full") as library:
            library.jobs.work(once=True)
        assert client.get(path).json()["state"] == "done"


def test_who_is_limited_to_a_shelf_sees_the_jobs_of_their_own_files_alone(served: Served) -> None:
    with served.client(served.key("write", shelves=("ferry",))) as client:
        file = {"file": ("quay.md", b"# Quay\n\nThe quay is of granite.\n")}
        other = {"file": ("rope.md", b"# Rope\n\nThe rope is of hemp.\n")}
        sent = client.post("/api/documents/upload", files=file, data={"shelf": "ferry"}).json()
        with served.client(served.key("write")) as everybody:
            hidden = everybody.post("/api/documents/upload", files=other).json()
        served.work()
        (name,) = client.get(f"/api/jobs/{sent['id']}").json()["result"]["documents"]
        assert client.get(f"/api/documents/{name}").json()["shelves"] == ["ferry"]
        assert "event: ended" in client.get(f"/api/jobs/{sent['id']}/events").text
        assert client.get(f"/api/jobs/{hidden['id']}").status_code == 404
        assert client.get("/api/jobs").status_code == 403


def test_a_job_is_shown_done_and_cannot_be_done_again(served: Served) -> None:
    with served.client(served.key("write")) as client:
        file = {"file": ("gulls.md", b"# Gulls\n\nGulls nest on the pier.\n")}
        path = f"/api/jobs/{client.post('/api/documents/upload', files=file).json()['id']}"
        assert client.get(path).json()["state"] == "pending"
        served.work()
        assert client.get(path).json()["state"] == "done"
        events = client.get(f"{path}/events").text
        assert (events.count("event:"), "event: ended" in events) == (1, True)
        assert client.post(f"{path}/cancel").status_code == 409
        latest, *_ = client.get("/api/jobs?state=done").json()["jobs"]
        assert latest["id"] == path.rpartition("/")[2]
