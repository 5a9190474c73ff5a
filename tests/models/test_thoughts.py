"""What a model thinks, kept apart from what it writes, however it is cut into pieces."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.models.thoughts import Thoughts

PIECES = st.lists(
    st.sampled_from(
        [
            "<think>",
            "</think>",
            "<",
            "think",
            ">",
            "</",
            "<thinking>",
            "</thinking>",
            " ",
            "\n",
            "\r",
            "At nine.",
            "x",
            "\u200b",
            "<b>",
        ]
    )
    | st.text(max_size=5),
    max_size=12,
)


def shown(*pieces: str) -> tuple[list[str], str]:
    thoughts = Thoughts()
    heard = [thoughts.feed(piece) for piece in pieces]
    heard.append(thoughts.finish())
    return [text for text in heard if text], thoughts.text()


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("", ""),
        (" At nine. ", "At nine."),
        ("<think>Hm.</think>At nine.", "At nine."),
        ("\n <think>Hm.\n</think>\n\nAt nine.", "At nine."),
        ("<think>a</think><think>b</think>At nine.", "At nine."),
        ("<thinking>a </think> b</thinking>At nine.", "At nine."),
        ("<think>never closed", ""),
        ("<thin", "<thin"),
        ("<thin ice>", "<thin ice>"),
        ("The tag <think> stands here</think>.", "The tag <think> stands here</think>."),
        ("Hm.</think>At nine.", "Hm.</think>At nine."),
        ("At\u202e ni\u200bne.\r\nYes.", "At nine.\nYes."),
    ],
)
def test_thoughts_are_no_text_in_one_piece_and_in_many(written: str, text: str) -> None:
    assert shown(written)[1] == text
    heard, whole = shown(*written)
    assert whole == text
    assert "".join(heard).strip() == text


def test_text_is_not_held_back() -> None:
    assert shown("At", " nine", ".")[0] == ["At", " nine", "."]
    assert shown("<th", "e ferry>")[0] == ["<the ferry>"]


def test_an_end_without_a_beginning_counts_for_models_that_think() -> None:
    thoughts = Thoughts()
    thoughts.feed("Hm.</think>No.</think> At nine.")
    thoughts.finish()
    assert thoughts.text(thinks_first=True) == "At nine."


@given(PIECES)
def test_how_a_response_is_cut_does_not_matter(pieces: list[str]) -> None:
    heard, text = shown(*pieces)
    assert text == shown("".join(pieces))[1]
    assert "".join(heard).strip() == text


@given(st.text(max_size=30).filter(lambda text: "</think>" not in text), st.text(max_size=30))
def test_nothing_of_a_thought_is_shown(thought: str, answer: str) -> None:
    assert shown(f"<think>{thought}</think>{answer}")[1] == shown(answer)[1]
