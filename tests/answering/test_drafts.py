import time

from chapterhouse.answering.writing import drafts
from chapterhouse.types import Draft


def test_a_draft_is_of_all_that_came_so_far() -> None:
    assert drafts(None, lambda text: Draft((), text)) is None
    seen: list[Draft] = []
    receive = drafts(seen.append, lambda text: Draft((), text))
    assert receive is not None
    for piece in ("At ", "nine."):
        receive(piece)
        time.sleep(0.01)
    assert seen[-1] == Draft((), "At nine.")


def test_pieces_that_come_while_a_slow_draft_rests_make_none() -> None:
    seen: list[str] = []

    def slow(text: str) -> Draft:
        seen.append(text)
        time.sleep(0.02)
        return Draft((), text)

    receive = drafts(lambda _: None, slow)
    assert receive is not None
    for piece in ("At ", "nine", "."):
        receive(piece)
    assert seen == ["At "]
