"""What the reader is told before an answer without a model: what is missing, what needs a model."""

from collections.abc import Mapping, Sequence
from typing import Final

from chapterhouse.answering.question_kind import QuestionKind, offers, states_count

_ABSENT: Final = "No document searched mentions {}."
_SIDE: Final = "Nothing was found about {}."
_NOT_STATED: Final[Mapping[QuestionKind, str]] = {
    QuestionKind.DATE: "No date is stated in what was found.",
    QuestionKind.NUMBER: "No number or amount is stated in what was found.",
    QuestionKind.PERSON: "No person is named in what was found.",
    QuestionKind.PLACE: "No place is named in what was found.",
    QuestionKind.REASON: "No reason is stated in so many words in what was found.",
}
# They end in a colon, and lead in to the passages.
_NEEDS_MODEL: Final[Mapping[QuestionKind, str]] = {
    QuestionKind.COUNT: "Counting needs a model. These are passages it would count over:",
    QuestionKind.WEIGHING: "Weighing needs a model. These are the passages it would weigh:",
    QuestionKind.SUMMARY: "A summary needs a model. These are passages it would sum up:",
}
_BEGINNING: Final = "A summary needs a model. This is how {} begins:"


def needs_model(kind: QuestionKind, shown: str, asked: str) -> bool:
    """Whether no quotation can answer a question: it is to be counted, weighed or summed up.

    Args:
        kind: What the question asks for.
        shown: The text that is shown.
        asked: The question.
    """
    counted = kind is QuestionKind.COUNT and states_count(shown, asked)
    return kind in _NEEDS_MODEL and not counted


def notice(
    kind: QuestionKind,
    shown: str,
    asked: str,
    *,
    absent: Sequence[str] = (),
    missing: Sequence[str] = (),
    beginning: str = "",
    unvalued: bool = False,
) -> str:
    """Return what the reader is told first; empty where there is nothing to tell.

    Args:
        kind: What the question asks for.
        shown: The text that is shown; or empty.
        asked: The question.
        absent: Names that no document has.
        missing: What is compared, and of which nothing was found.
        beginning: Title of the document whose beginning is shown; or empty.
        unvalued: Whether a value is asked for, and nothing shown may be it.
    """
    told = [_ABSENT.format(_quoted(absent))] if absent else []
    told += [_SIDE.format(_quoted(missing))] if missing else []
    if shown and needs_model(kind, shown, asked):
        told.append(_BEGINNING.format(_quoted([beginning])) if beginning else _NEEDS_MODEL[kind])
    elif shown and not told:
        unreasoned = kind is QuestionKind.REASON and not offers(kind, shown, asked)
        told += [_NOT_STATED[kind]] if kind in _NOT_STATED and (unvalued or unreasoned) else []
    return " ".join(told)


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f"“{name}”" for name in names)
