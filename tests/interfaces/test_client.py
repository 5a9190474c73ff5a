from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.served import Served, serving

from chapterhouse.interfaces.client import Client, ServiceError
from chapterhouse.library import Library


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home = tmp_path_factory.mktemp("client")
    Library.open(home).close()
    with serving(home) as found:
        yield found


def test_a_file_is_sent_asked_about_and_removed(served: Served, tmp_path: Path) -> None:
    file = tmp_path / "kites.md"
    file.write_text("# Kites\n\nA kite needs four metres of wind in a second.\n")
    with Client(served.url, key=served.key()) as client:
        job = client.upload(file)
        served.work()
        assert client.wait(job).state == "done"
        (document,) = client.documents(text="kites")
        assert client.original(document.id) == file.read_bytes()
        assert "four metres" in client.content(document.id).text
        assert client.document(document.id) == document
        assert client.search("how much wind does a kite need").hits
        assert "four metres" in client.context("How much wind?").markdown
        answer = client.ask("How much wind does a kite need?")
        assert (answer.outcome, answer.citations[0].document_id) == ("answer", document.id)
        *_, (name, data) = client.ask_events("How much wind does a kite need?")
        assert (name, data["text"]) == ("answer", answer.text)
        search = client.remove(document.id).search
        assert search is not None
        assert search.found == 0
        with pytest.raises(ServiceError, match="There is no document") as refused:
            client.document(document.id)
        assert (refused.value.status, refused.value.kind) == (404, "not-found")


def test_a_server_that_is_not_there_is_named() -> None:
    with Client("http://127.0.0.1:9") as client, pytest.raises(ServiceError, match="reached"):
        client.ask("Is anybody there?")


def test_a_wrong_key_is_refused(served: Served) -> None:
    served.key()
    with Client(served.url, key="ch_wrong") as client, pytest.raises(ServiceError) as refused:
        client.ask("Is anybody there?")
    assert refused.value.status == 401


def test_what_does_not_fit_is_named(served: Served) -> None:
    with (
        Client(served.url, key=served.key()) as client,
        pytest.raises(ServiceError, match=r"does not fit.; query\.status: ") as refused,
    ):
        list(client.documents(status="odd"))
    assert refused.value.status == 422
