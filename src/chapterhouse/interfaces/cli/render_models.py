"""What people see of language models and rerankers: which there are, what was chosen and tried."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from chapterhouse.interfaces.cli import render_encoders
from chapterhouse.interfaces.cli.terminal import columns, indented, one_line, styled

if TYPE_CHECKING:
    from rich.console import Console

    from chapterhouse.evaluation.model_trial import Finding, Trial
    from chapterhouse.interfaces.cli.model_listing import Listing
    from chapterhouse.interfaces.cli.settings_file import Written
    from chapterhouse.models.servers import ServedModel, Server
    from chapterhouse.settings import LanguageModelSettings, RerankSettings

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


def listed(target: "Console", found: "Listing") -> None:
    """List the language models that can be reached, then the encoders."""
    rows = [
        (model.name, server.title, server.address, _context(model), _state(found, server, model))
        for server in found.servers
        for model in server.models
        if model.writes
    ]
    if rows:
        columns(target, [("language model", "served by", "address", "context", ""), *rows])
    elif found.chosen.engine == "none" and not found.hosted:
        target.print(styled(_NOTHING))
    for server in found.servers:
        if server.problem:
            target.print(styled(f"{server.address} {one_line(server.problem)}."))
        elif not any(model.writes for model in server.models):
            target.print(styled(f"{server.title} at {server.address} has no language model yet."))
    for hosted, key in found.hosted:
        use = f"chapterhouse model use {hosted.name}/NAME"
        target.print(styled(f"{hosted.title}: a key is in the {key}; {use}"))
    _chosen_elsewhere(target, found)
    if found.encoders:
        target.print("")
        render_encoders.listed(target, found.encoders, found.cards)


def chosen(
    target: "Console",
    made: "LanguageModelSettings",
    written: "Written",
    notes: Sequence[str],
) -> None:
    """Say what was chosen, and where it was written."""
    if made.engine != "none":
        place = made.base_url or made.engine
        target.print(styled((one_line(made.model), "bold"), f" at {one_line(place)} is chosen."))
    for note in notes:
        target.print(styled(one_line(note)))
    target.print(styled(f"Written to {one_line(written.path)}, line {written.line}."))


def trial(target: "Console", tried: "Trial") -> None:
    """Show what a model can do."""
    from chapterhouse.evaluation.model_trial import QUESTION  # noqa: PLC0415 - brings the engines

    target.print("")
    target.print(styled((QUESTION, "bold")))
    indented(target, one_line(tried.answer.text))
    for citation in tried.answer.citations:
        indented(target, styled((f"[{citation.number}] “{one_line(citation.quote)}”", "dim")))
    target.print("")
    for finding in tried.found:
        _finding(target, finding, "ok  ", "NO  ")
    speed = f"{tried.tokens_per_second:,.0f} tokens a second" if tried.tokens_per_second else "?"
    target.print(styled(("    ", "bold"), f"speed: {speed}"))
    target.print("")
    target.print(styled(("What will work", "bold")))
    for finding in tried.works:
        _finding(target, finding, "ok  ", "--  ")


def reranked(target: "Console", made: "RerankSettings", written: "Written", *, right: bool) -> None:
    """Say which reranker was chosen, and what came of its test."""
    name = made.model or made.folder or made.engine
    target.print(styled((one_line(name), "bold"), " orders passages from now on."))
    target.print(styled(f"Written to {one_line(written.path)}, line {written.line}."))
    if not right:
        target.print(styled("It put a passage that answers a question behind one that does not."))


def _finding(target: "Console", finding: "Finding", passed: str, failed: str) -> None:
    mark = (passed, "green") if finding.passed else (failed, "yellow")
    target.print(styled(mark, f"{finding.name}: {one_line(finding.sentence)}"))


def _context(model: "ServedModel") -> str:
    if model.context and model.longest > model.context:
        return f"{model.context:,} of {model.longest:,}"
    if model.context:
        return f"{model.context:,}"
    return f"up to {model.longest:,}" if model.longest else "-"


def _state(found: "Listing", server: "Server", model: "ServedModel") -> str:
    said = ["in use"] if found.is_chosen(server, model) else []
    return ", ".join([*said, *(["loaded"] if model.loaded else [])])


def _chosen_elsewhere(target: "Console", found: "Listing") -> None:
    """Tell of the model in use where it is not in the list."""
    made = found.chosen
    shown = any(
        found.is_chosen(server, model) for server in found.servers for model in server.models
    )
    if made.engine != "none" and not shown:
        place = made.base_url or made.engine
        target.print(styled(f"In use: {one_line(made.model)} at {one_line(place)}."))
