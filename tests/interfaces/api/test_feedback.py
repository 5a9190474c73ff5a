from tests.served import Served

FERRY = "When does the ferry leave the harbour?"


def test_a_verdict_becomes_a_question(served: Served) -> None:
    with served.client(served.key("write")) as client:
        before = client.get("/api/feedback").json()["questions"]
        good = client.post("/api/feedback", json={"verdict": "good", "question": FERRY})
        assert (good.status_code, good.json()["change"]) == (201, "added")
        (required,) = good.json()["question"]["required"]
        assert required.endswith("/ferry.md")
        bad = {
            "verdict": "bad",
            "question": "What is the toll of the bridge?",
            "answer": {
                "sentences": ["The toll is nine crowns."],
                "citations": [{"source": "tolls.md", "quote": "nine crowns"}],
            },
        }
        assert client.post("/api/feedback", json=bad).json()["question"]["wrong"] == [
            "The toll is nine crowns.",
            "nine crowns",
        ]
        assert client.post("/api/feedback", json=bad).json()["change"] == "unchanged"

        questions = client.get("/api/feedback").json()["questions"][len(before) :]
        assert [one["question"] for one in questions] == [FERRY, bad["question"]]
        unknown = {"verdict": "good", "question": FERRY, "required": ["absent.md"]}
        assert client.post("/api/feedback", json=unknown).status_code == 404


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
        assert client.get("/api/documents/analytics").json()["by_format"]["md"] >= 2
