import pytest
from tests.served import QUESTION, Served, remember_board

from chapterhouse.library import Library

OTHER = "What do storm rules allow for lodging?"


@pytest.fixture(scope="module", autouse=True)
def asked(served_board: Served) -> None:
    with Library.open(served_board.home) as library:
        library.answers.ask(QUESTION)
        library.answers.ask(OTHER, persona="maria")
        remember_board(library)


def _name_who_is_gone(served_board: Served) -> None:
    gone = (
        served_board.home / "personas" / "maria",
        served_board.home / "councils" / "storm-board",
    )
    for path in gone:
        path.rename(served_board.home / path.name)
    try:
        with served_board.client(served_board.key("read")) as client:
            assert len(client.get("/api/memory?persona=maria").json()["memories"]) == 1
            board = "/api/memory?council=storm-board"
            assert len(client.get(board).json()["memories"]) >= 2
            assert client.get(f"{board}&member=ada").status_code == 404
    finally:
        for path in gone:
            (served_board.home / path.name).rename(path)


def test_memories_are_listed_searched_and_forgotten(served_board: Served) -> None:
    _name_who_is_gone(served_board)
    with served_board.client(served_board.key("write")) as client:

        def listed(**query: str) -> list[str]:
            found = client.get("/api/memory", params=query).json()["memories"]
            return [f"{one['persona']}: {one['question']}" for one in found]

        assert {f": {QUESTION}", f"maria: {OTHER}"} <= set(listed())
        assert listed(persona="library") == [f": {QUESTION}"]
        assert listed(persona="maria", text="storm rules") == [f"maria: {OTHER}"]
        assert listed(persona="maria", text="kites") == []
        council = listed(council="storm-board")
        assert {"council_storm-board/maria", "council_storm-board/tom"} <= {
            one.partition(":")[0] for one in council
        }
        assert len(listed(council="storm-board", member="tom")) == 1
        assert len(listed(limit="2")) == 2
        (mine,) = client.get("/api/memory?persona=maria").json()["memories"]
        assert client.delete(f"/api/memory/{mine['id']}").json() == {"forgotten": 1}
        assert client.delete(f"/api/memory/{mine['id']}").status_code == 404
        assert listed(persona="maria") == []
        assert client.delete("/api/memory").status_code == 422  # never all by mistake
        assert client.delete("/api/memory?before=1").json() == {"forgotten": 0}
        before = len(listed())
        gone = client.delete(f"/api/memory?before={2**53}&council=storm-board").json()["forgotten"]
        assert gone == len(council)
        assert len(listed()) == before - gone


def test_who_is_meant_has_to_be_clear(served_board: Served) -> None:
    with served_board.client(served_board.key("read")) as client:
        assert client.get("/api/memory?persona=maria&council=storm-board").status_code == 400
        assert client.get("/api/memory?member=tom").status_code == 400
        assert client.get("/api/memory?persona=nobody").status_code == 404
