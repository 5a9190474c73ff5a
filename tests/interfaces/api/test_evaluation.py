from tests.served import Served

FERRY = "When does the ferry leave the harbour?"


def test_a_verdict_becomes_a_question_that_is_measured(served: Served) -> None:
    with served.client(served.key("write")) as client:
        assert client.get("/api/evaluation/questions").json() == {"questions": []}
        made = client.post("/api/evaluation", json={"limit": 3}).json()
        assert (made["kind"], bool(made["note"])) == ("synthetic", True)

        good = client.post("/api/feedback", json={"verdict": "good", "question": FERRY})
        assert (good.status_code, good.json()["change"]) == (201, "added")
        (required,) = good.json()["question"]["required"]
        assert required.endswith("/ferry.md")
        bad = {
            "verdict": "bad",
            "question": "What is the toll of the bridge?",
            "answer": {
                "sentences": ["The toll is nine crowns."],
                "citations": [{"file": "tolls.md", "quote": "nine crowns"}],
            },
        }
        assert client.post("/api/feedback", json=bad).json()["question"]["wrong"] == [
            "The toll is nine crowns.",
            "nine crowns",
        ]
        assert client.post("/api/feedback", json=bad).json()["change"] == "unchanged"

        questions = client.get("/api/evaluation/questions").json()["questions"]
        assert [one["text"] for one in questions] == [FERRY, bad["question"]]
        found = client.post("/api/evaluation", json={}).json()
        assert (found["name"], found["kind"]) == ("questions.jsonl", "questions")
        assert [one["id"] for one in found["questions"]] == [one["id"] for one in questions]
        assert found["questions"][0]["scores"]["required@10"] == 1
        assert found["measures"]["required@10"]["mean"] == 1
        assert len(client.post("/api/evaluation", json={"limit": 1}).json()["questions"]) == 1


def test_more_questions_than_a_request_may_ask_are_refused(served: Served) -> None:
    path = served.home / "workspaces" / "default" / "questions.jsonl"
    before = path.read_text("utf-8") if path.exists() else None
    lines = (f'{{"question": "Which {n}?", "required": "ferry.md"}}\n' for n in range(51))
    path.write_text("".join(lines), "utf-8")
    try:
        with served.client(served.key("write")) as client:
            refused = client.post("/api/evaluation", json={})
            assert (refused.status_code, "51" in refused.json()["detail"]) == (400, True)
            path.write_text("{", "utf-8")
            wrong = client.get("/api/evaluation/questions")
            assert (wrong.status_code, str(served.home) in wrong.text) == (400, False)
    finally:
        path.unlink()
        if before is not None:
            path.write_text(before, "utf-8")


def test_what_was_not_shown_cannot_be_wrong(served: Served) -> None:
    body = {"verdict": "bad", "question": FERRY, "answer": {}, "sentences": ["9"]}
    with served.client(served.key("write")) as client:
        assert client.post("/api/feedback", json=body).status_code == 400
        unknown = {"verdict": "good", "question": FERRY, "required": ["absent.md"]}
        assert client.post("/api/feedback", json=unknown).status_code == 404


def test_levels_and_limits(served: Served) -> None:
    for level, limits in (("read", {}), ("write", {"shelves": ("tolls",)})):
        with served.client(served.key(level, **limits)) as refused:
            for path in ("/api/evaluation", "/api/feedback"):
                assert refused.post(path, json={}).status_code == 403
            answer = refused.get("/api/evaluation/questions")
            assert answer.status_code == (403 if limits else 200)
