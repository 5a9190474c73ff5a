from tests.served import Served


def test_personas_are_listed_and_shown(served_board: Served) -> None:
    with served_board.client(served_board.key("read")) as client:
        listed = client.get("/api/personas").json()["personas"]
        assert [(one["slug"], one["documents"]) for one in listed] == [("maria", 1), ("tom", 1)]
        assert client.get("/api/personas/tom").json() == listed[1]
        assert client.get("/api/personas/to").status_code == 404  # the beginning of a name


def test_personas_who_read_what_a_key_does_not_see_are_not_there(served_board: Served) -> None:
    with served_board.client(served_board.key("read", shelves=("maria",))) as limited:
        listed = limited.get("/api/personas").json()["personas"]
        assert [(one["slug"], one["shelves"]) for one in listed] == [("maria", ["maria"])]
