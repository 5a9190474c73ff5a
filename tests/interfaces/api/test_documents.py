import time

from tests.served import Served


def test_a_document_is_received_read_found_and_removed(served: Served) -> None:
    with served.client(served.key("write")) as client:
        sent = client.post(
            "/api/documents/upload", files={"file": ("kites.md", b"# Kites\n\nKites fly.\n")}
        )
        assert (sent.status_code, sent.json()["state"]) == (202, "pending")
        served.work()
        assert client.get(f"/api/jobs/{sent.json()['id']}").json()["state"] == "done"
        found = client.post("/api/documents/search", json={"query": "do kites fly"}).json()
        document = found["passages"][0]["span"]["document_id"]
        content = client.get(f"/api/documents/{document}/content").json()["text"]
        assert "Kites fly." in content
        assert client.get(f"/api/documents/{document}/content?original=1").content.startswith(
            b"# Kites"
        )
        removed = client.delete(f"/api/documents/{document}").json()
        assert (removed["removed"], removed["found"]) == ([document], 0)
        assert client.get(f"/api/documents/{document}").status_code == 404
        assert time.time() < removed["can_be_restored_until"]
