import json

from tests.served import Served

ASKED = {"question": "When does the ferry leave the harbour?"}


def test_an_answer_cites_what_it_says(served: Served) -> None:
    with served.client(served.key("read")) as client:
        answer = client.post("/api/ask", json=ASKED).json()
        cited = answer["citations"][0]
        assert "at nine" in cited["quote"]
        content = client.get(f"/api/documents/{cited['document_id']}/content").json()
        assert content["text"][cited["start"] : cited["end"]] == cited["quote"]


def test_a_stream_ends_with_the_answer(served: Served) -> None:
    with served.client(served.key("read")) as client:
        text = client.post("/api/ask/stream", json=ASKED).text
        whole = client.post("/api/ask", json=ASKED).json()
    *_, name, data = [line for line in text.splitlines() if line.startswith(("event:", "data:"))]
    assert name == "event: answer"
    assert json.loads(data.removeprefix("data: "))["citations"] == whole["citations"]


def test_a_stream_of_what_cannot_be_asked_ends_with_the_problem(served: Served) -> None:
    with served.client(served.key("read")) as client:
        body = {**ASKED, "persona": "nobody"}
        plain = client.post("/api/ask", json=body)
        streamed = client.post("/api/ask/stream", json=body).text
    assert plain.status_code == 404
    assert "event: error" in streamed
    assert "nobody" in streamed


def test_a_limited_key_gets_no_answer_from_elsewhere(served: Served) -> None:
    with served.client(served.key("read", shelves=("tolls",))) as client:
        assert "at nine" not in client.post("/api/ask", json=ASKED).text
