"""What people see of language models and rerankers: which there are, what was chosen and tried."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from chapterhouse.interfaces.cli.terminal import one_line
from chapterhouse.loading import lazy
from chapterhouse.presenting.blocks import Block, Columns, Style, verbatim
from chapterhouse.text.counting import counted
from chapterhouse.types import EncoderStatus

if TYPE_CHECKING:
    from chapterhouse.evaluation import model_trial
    from chapterhouse.evaluation.model_trial import Trial
    from chapterhouse.interfaces.cli.settings_file import Written
    from chapterhouse.models.cards import Card
    from chapterhouse.settings import LanguageModelSettings, RerankSettings
else:
    model_trial = lazy("chapterhouse.evaluation.model_trial")

# A question with a passage that answers it and one that does not.
RERANKED: Final = (
    "When does the ferry to Osk leave?",
    ("The ferry to Osk leaves at 07:40.", "The crane on the north quay lifts 12 tonnes."),
)
_NOTHING: Final = (
    "No language model is chosen: answers are quotations.\n"
    "Install one, such as Ollama (https://ollama.com/download, then: ollama pull qwen3:8b), or "
    "name a service or an address: chapterhouse model use"
)


@dataclass(frozen=True, slots=True)
class Listing:
    """What there is.

    Attributes:
        chosen: The language model that the settings name, if its engine is one.
        address: Where it is served.
        encoders: Of the library; none where there is no library.
        cards: Encoders that are known.
    """

    chosen: "LanguageModelSettings"
    address: str
    encoders: tuple[EncoderStatus, ...]
    cards: tuple["Card", ...]

    @property
    def data(self) -> Mapping[str, object]:
        """What ``--json`` shows."""
        return {
            "language_model": self.chosen.model_dump(mode="json"),
            "address": self.address,
            "encoders": self.encoders,
            "known": [card.model_dump(mode="json") for card in self.cards],
        }


def listed(found: Listing) -> Iterator[Block]:
    """Show the language model that is chosen, then the encoders."""
    if found.address:
        model = one_line(found.chosen.model)
        yield verbatim("Language model: ", (model, Style.STRONG), f" at {one_line(found.address)}.")
    else:
        yield verbatim(_NOTHING)
    if found.encoders:
        yield verbatim()
        yield from encoders(found.encoders, found.cards)


def chosen(
    made: "LanguageModelSettings", written: "Written", notes: Sequence[str]
) -> Iterator[Block]:
    """Say what was chosen, and where it was written."""
    if made.engine != "none":
        place = made.base_url or made.engine
        yield verbatim((one_line(made.model), Style.STRONG), f" at {one_line(place)} is chosen.")
    for note in notes:
        yield verbatim(one_line(note))
    yield verbatim(f"Written to {one_line(written.path)}, line {written.line}.")


def trial(tried: "Trial") -> Iterator[Block]:
    """Show the question, what the model answered, and whether that is right."""
    yield verbatim()
    yield verbatim((model_trial.QUESTION, Style.STRONG))
    yield verbatim(one_line(tried.answer.text), indent=4)
    for citation in tried.answer.citations:
        yield verbatim((f"[{citation.number}] “{one_line(citation.quote)}”", Style.QUIET), indent=4)
    yield verbatim()
    yield verbatim(("ok  ", Style.GOOD) if tried.passed else ("NO  ", Style.WARNING), tried.verdict)
    if tried.context_size:
        yield verbatim(f"    It takes {tried.context_size:,} tokens, prompt and answer together.")


def reranked(made: "RerankSettings", written: "Written", *, right: bool) -> Iterator[Block]:
    """Say which reranker was chosen, and what came of its test."""
    name = made.model or made.folder or made.engine
    yield verbatim((one_line(name), Style.STRONG), " orders passages from now on.")
    yield verbatim(f"Written to {one_line(written.path)}, line {written.line}.")
    if not right:
        yield verbatim("It put a passage that answers a question behind one that does not.")


_MINUTE: Final = 60
_HOUR: Final = 3_600
_MEGABYTE: Final = 1_000_000


def vector_rows(found: Sequence[EncoderStatus], documents: int) -> list[tuple[str, str]]:
    """Return rows of ``status``: how far an encoder is that is not complete, and why.

    Args:
        found: The encoders of the library.
        documents: How many documents the library has.
    """
    rows = []
    for entry in found:
        behind = entry.role == "active" and entry.done < entry.total
        if entry.role == "building" or behind:
            rows.append((f"vectors of {entry.name}", _progress(entry)))
            if entry.done < entry.total and not entry.problem:
                rows.append(
                    ("", "The rest follows in the background; now: chapterhouse model embed")
                )
            if 0 < entry.total < documents:
                others = counted(documents - entry.total, "document is", "documents are")
                rows.append(("", f"{others} in languages that it does not serve."))
        if entry.problem:
            rows.append(("", f"They could not be made: {entry.problem}"))
    return rows


def encoders(found: Sequence[EncoderStatus], cards: Sequence["Card"]) -> Iterator[Block]:
    """List the encoders of a library, then those that are known."""
    rows = [("in this library", "role", "vectors of")]
    rows += [(entry.name, entry.role, _progress(entry)) for entry in found]
    yield Columns(rows)
    for entry in found:
        if entry.problem:
            yield verbatim(f"{entry.name}: {entry.problem}")
    if not cards:
        return
    yield verbatim()
    known = [("known", "licence", "to fetch", "what it is")]
    known += [(card.name, card.licence, megabytes(card.size), card.summary) for card in cards]
    yield Columns(known)


def encoder_chosen(
    found: Sequence[EncoderStatus], chunks: int, speed: float, problem: str
) -> Iterator[Block]:
    """Say what happens now that an encoder was chosen."""
    wanted = next((entry for entry in found if entry.role == "building"), found[0])
    if wanted.role == "active":
        yield verbatim(f"{wanted.name} is in use: {_progress(wanted)} have its vectors.")
        return
    yield verbatim(f"{wanted.name} is chosen: {_progress(wanted)} have its vectors.")
    if problem:
        yield verbatim(f"It cannot be used yet: {problem}")
    if speed:
        yield verbatim(
            f"About {speed:,.0f} chunks a second here, {chunks:,} to go: "
            f"{duration(chunks / speed)}."
        )
    yield verbatim(
        "Until then the library answers as before. Commands make the vectors in the "
        "background; to wait for them: chapterhouse model embed"
    )


def megabytes(size: int) -> str:
    """Return bytes for people, ``-`` for none."""
    return f"{max(size / _MEGABYTE, 0.1):,.1f} MB" if size else "-"


def duration(seconds: float) -> str:
    """Return a time for people: ``about 3 minutes``."""
    if seconds < _MINUTE:
        return "less than a minute"
    if seconds < 2 * _HOUR:
        return f"about {counted(round(seconds / _MINUTE), 'minute')}"
    return f"about {counted(round(seconds / _HOUR), 'hour')}"


def _progress(entry: EncoderStatus) -> str:
    return f"{entry.done:,} of {counted(entry.total, 'document')}"
