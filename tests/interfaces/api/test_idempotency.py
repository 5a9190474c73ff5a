from tests.served import Served


def test_a_repeated_request_is_done_once(served: Served) -> None:
    with served.client(served.key("write")) as client:
        file = {"file": ("gulls.md", b"# Gulls\n\nGulls cry at dawn.\n")}
        key = {"Idempotency-Key": "first"}
        sent = client.post("/api/documents/upload", files=file, headers=key)
        again = client.post("/api/documents/upload", files=file, headers=key)
        assert (again.status_code, again.json()) == (202, sent.json())
        assert again.headers["Idempotency-Replayed"] == "true"
        other = {"file": ("gulls.md", b"# Gulls\n\nGulls cry at noon, too.\n")}
        assert client.post("/api/documents/upload", files=other, headers=key).status_code == 422
        served.work()


def test_another_caller_has_keys_of_their_own(served: Served) -> None:
    body, key = {"query": "gulls"}, {"Idempotency-Key": "shared"}
    for level in ("read", "write"):
        with served.client(served.key(level)) as client:
            found = client.post("/api/documents/search", json=body, headers=key)
            assert "Idempotency-Replayed" not in found.headers


def test_what_failed_may_be_tried_again(served: Served) -> None:
    with served.client(served.key("read")) as client:
        key = {"Idempotency-Key": "failed"}
        wrong = client.post("/api/ask", json={"question": "?", "persona": "nobody"}, headers=key)
        assert wrong.status_code == 404
        again = client.post("/api/ask", json={"question": "?", "persona": "nobody"}, headers=key)
        assert (again.status_code, "Idempotency-Replayed" in again.headers) == (404, False)
        assert client.post("/api/ask", json={}, headers={"Idempotency-Key": "x" * 201}).is_error
