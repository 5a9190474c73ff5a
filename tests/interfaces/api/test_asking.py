import json

from tests.served import Served

ASKED = {"question": "When does the ferry leave the harbour?"}


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
