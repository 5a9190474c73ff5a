from pathlib import Path

import pytest
from tests.served import Served

from chapterhouse.interfaces.client import Client, ServiceError


def test_a_file_is_sent_asked_about_and_removed(served: Served, tmp_path: Path) -> None:
    file = tmp_path / "swans.md"
    file.write_text("# Swans\n\nA swan needs thirty metres of water to rise.\n")
    question = "How much water does a swan need?"
    with Client(served.url, key=served.key()) as client:
        job = client.upload(file)
        served.work()
        assert client.wait(job).state == "done"
        (document,) = client.documents(text="swans")
        assert client.original(document.id) == file.read_bytes()
        assert "thirty metres" in client.content(document.id).text
        assert client.document(document.id) == document
        assert client.search(question).hits
        assert "thirty metres" in client.context(question).markdown
        answer = client.ask(question)
        assert (answer.outcome, answer.citations[0].document_id) == ("answer", document.id)
        *_, (name, data) = client.ask_events(question)
        assert (name, data["text"]) == ("answer", answer.text)
        search = client.remove(document.id).search
        assert (search and search.found) == 0
        with pytest.raises(ServiceError, match="There is no document") as refused:
            client.document(document.id)
        assert (refused.value.status, refused.value.kind) == (404, "not-found")
        wrong = r"does not fit.; query\.status: "
        with pytest.raises(ServiceError, match=wrong) as refused:
            list(client.documents(status="odd"))
        assert refused.value.status == 422


def test_a_wrong_key_and_a_server_that_is_not_there_are_named(served: Served) -> None:
    with Client(served.url, key="ch_wrong") as client, pytest.raises(ServiceError) as refused:
        client.ask("Is anybody there?")
    assert refused.value.status == 401
    with Client("http://127.0.0.1:9") as client, pytest.raises(ServiceError, match="reached"):
        client.ask("Is anybody there?")
