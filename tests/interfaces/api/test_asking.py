import base64
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


def test_images_are_checked_before_a_model_is_shown_them(served: Served) -> None:
    png = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(40)).decode()
    with served.client(served.key("read")) as client:

        def refused(data: str) -> tuple[int, str]:
            answer = client.post(
                "/api/ask", json={**ASKED, "images": [{"name": "a.png", "data": data}]}
            )
            return answer.status_code, answer.text

        code, text = refused("%%%")
        assert (code, "The image a.png is not in Base64." in text) == (422, True)
        assert "no image that models see" in refused(base64.b64encode(b"GIMP").decode())[1]
        assert "needs a language model" in refused(png)[1]
