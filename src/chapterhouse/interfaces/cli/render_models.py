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
    from chapterhouse.evaluation.model_trial import Finding, Trial
    from chapterhouse.interfaces.cli.settings_file import Written
    from chapterhouse.models import presets
    from chapterhouse.models.cards import Card
    from chapterhouse.models.servers import ServedModel, Server
    from chapterhouse.settings import LanguageModelSettings, RerankSettings
else:
    model_trial = lazy("chapterhouse.evaluation.model_trial")
    presets = lazy("chapterhouse.models.presets")

# A question with a passage that answers it and one that does not.
RERANKED: Final = (
    "When does the ferry to Osk leave?",
    ("The ferry to Osk leaves at 07:40.", "The crane on the north quay lifts 12 tonnes."),
)
_NOTHING: Final = (
    "No language model can be reached on this machine: answers are quotations.\n"
    "Install one, such as Ollama (https://ollama.com/download, then: ollama pull qwen3:8b), or "
    "start LM Studio, llama.cpp or vLLM; then: chapterhouse model use"
)


@dataclass(frozen=True, slots=True)
class Listing:
    """What there is.

    Attributes:
        chosen: The language model that the settings name, if its engine is one.
        host: Where it is served.
        servers: Those that answer on this machine.
        hosted: Hosted services whose key is there, with where it is.
        encoders: Of the library; none where there is no library.
        cards: Encoders that are known.
    """

    chosen: "LanguageModelSettings"
    host: str
    servers: tuple["Server", ...]
    hosted: tuple[tuple[str, str], ...]
    encoders: tuple[EncoderStatus, ...]
    cards: tuple["Card", ...]

    def is_chosen(self, server: "Server", model: "ServedModel") -> bool:
        """Whether a model of a server is the one that the settings name."""
        here = server.address.partition("://")[2] == self.host.replace("localhost", "127.0.0.1")
        return here and server.model(self.chosen.model) == model

    @property
    def data(self) -> Mapping[str, object]:
        """What ``--json`` shows."""
        return {
            "language_model": self.chosen.model_dump(mode="json"),
            "servers": [
                {
                    "server": server.kind,
                    "address": server.address,
                    "base_url": server.base_url,
                    "slots": server.slots,
                    "problem": server.problem,
                    "models": [
                        {
                            "name": model.name,
                            "context_size": model.context,
                            "longest_context": model.longest,
                            "loaded": model.loaded,
                            "writes": model.writes,
                            "tools": model.tools,
                            "thinks": model.thinks,
                            "in_use": self.is_chosen(server, model),
                        }
                        for model in server.models
                    ],
                }
                for server in self.servers
            ],
            "hosted": [{"name": name, "key": key} for name, key in self.hosted],
            "encoders": self.encoders,
            "known": [card.model_dump(mode="json") for card in self.cards],
        }


def listed(found: Listing) -> Iterator[Block]:
    """List the language models that can be reached, then the encoders."""
    rows = [
        (model.name, server.title, server.address, _context(model), _state(found, server, model))
        for server in found.servers
        for model in server.models
        if model.writes
    ]
    if rows:
        yield Columns([("language model", "served by", "address", "context", ""), *rows])
    elif found.chosen.engine == "none" and not found.hosted:
        yield verbatim(_NOTHING)
    for server in found.servers:
        if server.problem:
            yield verbatim(f"{server.address} {one_line(server.problem)}.")
        elif not any(model.writes for model in server.models):
            yield verbatim(f"{server.title} at {server.address} has no language model yet.")
    for name, key in found.hosted:
        use = f"chapterhouse model use {name}/NAME"
        yield verbatim(f"{presets.HOSTED[name].title}: a key is in the {key}; {use}")
    yield from _chosen_elsewhere(found)
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
    """Show what a model can do."""
    yield verbatim()
    yield verbatim((model_trial.QUESTION, Style.STRONG))
    yield verbatim(one_line(tried.answer.text), indent=4)
    for citation in tried.answer.citations:
        yield verbatim((f"[{citation.number}] “{one_line(citation.quote)}”", Style.QUIET), indent=4)
    yield verbatim()
    for finding in tried.found:
        yield from _finding(finding, "ok  ", "NO  ")
    speed = f"{tried.tokens_per_second:,.0f} tokens a second" if tried.tokens_per_second else "?"
    yield verbatim(("    ", Style.STRONG), f"speed: {speed}")
    yield verbatim()
    yield verbatim(("What will work", Style.STRONG))
    for finding in tried.works:
        yield from _finding(finding, "ok  ", "--  ")


def reranked(made: "RerankSettings", written: "Written", *, right: bool) -> Iterator[Block]:
    """Say which reranker was chosen, and what came of its test."""
    name = made.model or made.folder or made.engine
    yield verbatim((one_line(name), Style.STRONG), " orders passages from now on.")
    yield verbatim(f"Written to {one_line(written.path)}, line {written.line}.")
    if not right:
        yield verbatim("It put a passage that answers a question behind one that does not.")


def _finding(finding: "Finding", passed: str, failed: str) -> Iterator[Block]:
    mark = (passed, Style.GOOD) if finding.passed else (failed, Style.WARNING)
    yield verbatim(mark, f"{finding.name}: {one_line(finding.sentence)}")


def _context(model: "ServedModel") -> str:
    if model.context and model.longest > model.context:
        return f"{model.context:,} of {model.longest:,}"
    if model.context:
        return f"{model.context:,}"
    return f"up to {model.longest:,}" if model.longest else "-"


def _state(found: Listing, server: "Server", model: "ServedModel") -> str:
    notes = ["in use"] if found.is_chosen(server, model) else []
    return ", ".join([*notes, *(["loaded"] if model.loaded else [])])


def _chosen_elsewhere(found: Listing) -> Iterator[Block]:
    """Tell of the model in use where it is not in the list."""
    made = found.chosen
    shown = any(
        found.is_chosen(server, model) for server in found.servers for model in server.models
    )
    if made.engine != "none" and not shown:
        place = made.base_url or made.engine
        yield verbatim(f"In use: {one_line(made.model)} at {one_line(place)}.")


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
