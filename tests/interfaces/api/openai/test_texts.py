from typing import Any

from chapterhouse.interfaces.api.openai.results import draft_text, show_answer
from chapterhouse.types import Answer, AnswerOutcome, AnswerSentence, Citation, Searched

ADDRESS = "http://127.0.0.1:8431/api/documents"


def citation(number: int, **more: str) -> Citation:
    values: dict[str, Any] = {"document_id": "d1", "title": "Rules", "source": "rules.md", **more}
    return Citation(
        number, **values, section_path=("Rules", "Speed"), page=3, page_kind="page", page_label="",
        start=0, end=5, quote="Quote", text_sha256="0" * 64,
    )  # fmt: skip


WRITTEN = (
    AnswerSentence("Ships are slow.", (1,)),
    AnswerSentence("See [1] or ![x](http://evil.example).", (2, 1)),
    AnswerSentence("First.", (), before="\n\n- "),
    AnswerSentence("Second.", (3,), before="\n- "),
)
ANSWER = Answer(
    "How fast?",
    AnswerOutcome.ANSWER,
    WRITTEN,
    (
        citation(1),
        citation(2, link="https://harbour.example/rules"),
        citation(3, document_id="tool.weather.00"),
    ),
    Searched(1, 1, (), (), ()),
    0.95,
    method="scripted",
    persona="maria",
    display_name="Maria",
    notice="See /home/ada/secret.md.",
)


def test_only_markers_of_ours_are_annotated() -> None:
    shown = show_answer(ANSWER, "Taken as: x\n\n", ADDRESS)
    places = [(shown.text[a.start_index : a.end_index], a.url) for a in shown.annotations]
    assert places == [
        ("[1]", f"{ADDRESS}/d1/content"),
        ("[2]", "https://harbour.example/rules"),
        ("[1]", f"{ADDRESS}/d1/content"),
    ]
    assert shown.text.startswith("Taken as: x\n\nShips are slow.[1] See")
    assert r"!\[x\](http\://evil.example)" in shown.text  # no image
    assert shown.text.endswith(
        "**Sources**\n\n- [1] Rules, §Speed, page 3\n"
        "- [2] Rules, §Speed, page 3 <https://harbour.example/rules>\n"
        "- [3] Rules, §Speed, page 3"
    )
    assert "/home" not in shown.text
    assert "secret.md" in shown.text


def test_a_draft_is_how_its_answer_begins() -> None:
    whole = show_answer(ANSWER, "", ADDRESS).text
    drafts = [draft_text(WRITTEN[:number]) for number in range(len(WRITTEN) + 1)]
    assert drafts[1] == "Ships are slow.[1]"
    for shorter, longer in zip(drafts, [*drafts[1:], whole], strict=True):
        assert longer.startswith(shorter)
