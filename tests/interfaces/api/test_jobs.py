from tests.served import Served


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


def test_a_job_that_waits_is_cancelled_and_tried_again(served: Served) -> None:
    with served.client(served.key("write")) as client:
        file = {"file": ("owls.md", b"# Owls\n\nOwls sleep by day.\n")}
        path = f"/api/jobs/{client.post('/api/documents/upload', files=file).json()['id']}"
        assert client.post(f"{path}/cancel").json()["state"] == "cancelled"
        again = client.post(f"{path}/retry")
        assert (again.status_code, again.json()["state"]) == (202, "pending")
        served.work()
        assert client.get(f"/api/jobs/{again.json()['id']}").json()["state"] == "done"
        assert client.post("/api/jobs/j999/retry").status_code == 404
