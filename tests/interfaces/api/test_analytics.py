from tests.served import Served


def test_questions_are_counted_without_their_texts(served: Served) -> None:
    with served.client(served.key()) as client:
        before = client.get("/api/analytics").json()["outcomes"]["questions"]
        limited = served.key("read", shelves=["tolls"])
        with served.client(limited) as other:
            other.post("/api/ask", json={"question": "Who grows purple carrots?"})
            assert other.get("/api/analytics").status_code == 403
        client.post("/api/ask", json={"question": "When does the ferry leave?"})
        report = client.get("/api/analytics").json()
        assert report["outcomes"]["questions"] == before + 2
        assert report["by_interface"]["api"] == before + 2
        assert "carrots" not in str(report)
        assert client.get("/api/analytics/days.csv").status_code == 404
        assert client.get("/api/documents/analytics").json()["by_format"] == {"md": 2}
