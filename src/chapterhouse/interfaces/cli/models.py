"""Commands about models: model list, use, test, embed, back, forget."""

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from chapterhouse import lazy
from chapterhouse.errors import EngineError, UsageError
from chapterhouse.interfaces.background import become_idle
from chapterhouse.interfaces.cli import progress
from chapterhouse.interfaces.cli import settings as files
from chapterhouse.interfaces.cli.options import argument, common, flag, group, option
from chapterhouse.interfaces.cli.session import (
    FAILED,
    OK,
    Outcome,
    is_watched,
    named_folders,
    open_library,
    opened_library,
)
from chapterhouse.presenting.blocks import Style, TerminalBlock, table, verbatim
from chapterhouse.presenting.styled import one_line
from chapterhouse.presenting.wording import join_words
from chapterhouse.settings import LanguageModelSettings, RerankSettings
from chapterhouse.settings_file import load_settings
from chapterhouse.text.analyse import language_name
from chapterhouse.text.counting import counted
from chapterhouse.types import EncoderStatus

if TYPE_CHECKING:
    from chapterhouse.evaluation import model_trial
    from chapterhouse.interfaces.cli import model_choice
    from chapterhouse.library import opening as library_opening
    from chapterhouse.models import cards, model_folder, opening, presets
    from chapterhouse.store import places
else:
    library_opening = lazy("chapterhouse.library.opening")
    model_trial = lazy("chapterhouse.evaluation.model_trial")
    model_choice = lazy("chapterhouse.interfaces.cli.model_choice")
    cards = lazy("chapterhouse.models.cards")
    opening = lazy("chapterhouse.models.opening")
    presets = lazy("chapterhouse.models.presets")
    model_folder = lazy("chapterhouse.models.model_folder")
    places = lazy("chapterhouse.store.places")


app = group("Choose the models: what writes answers, makes vectors and orders passages.")
_NOTHING: Final = (
    "No language model is chosen: answers are quotations.\n"
    "Install one, such as Ollama (https://ollama.com/download, then: ollama pull qwen3:8b), or "
    "name a service or an address: chapterhouse model use"
)
_MINUTE, _HOUR = 60, 3_600  # seconds
_REWRITING: Final = "rewriting"  # the name of the model that rewrites questions


@app.command("list")
def list_models() -> Outcome:
    """Show the language model that is chosen, and the encoders of the library."""
    place, own = named_folders()
    chosen = load_settings(place, own).language_model
    address = presets.address_of(chosen) if chosen.engine != "none" else ""
    is_there = common().workspace in places.workspace_names(place)
    with open_library(create=False) if is_there else nullcontext() as library:
        statuses = library.encoders.statuses() if library else ()
    data = {
        "language_model": chosen.model_dump(mode="json"),
        "address": address,
        "encoders": statuses,
        "known": [card.model_dump(mode="json") for card in cards.known_cards()],
    }
    return Outcome(data, _show_list(chosen, address, statuses))


@app.command()
def use(
    name: Annotated[
        str,
        argument(
            "[NAME]", "A language model: SERVICE[/NAME], ADDRESS[/NAME], its name alone, or none."
        ),
    ] = "",
    *,
    embedder: Annotated[
        str,
        option(
            "--embedder",
            "NAME|FOLDER|URL",
            "An encoder: a known name, a folder with a model, or the address of a service.",
        ),
    ] = "",
    reranker: Annotated[
        str,
        option(
            "--reranker",
            "FOLDER|URL",
            "A reranker: a folder with a model, or an address; features: without a model.",
        ),
    ] = "",
    model: Annotated[
        str, option("--model", "NAME", "The model, as the service at URL calls it.")
    ] = "",
    rewriting: Annotated[
        bool, flag("--rewriting", "Let this language model only rewrite questions.")
    ] = False,
    key: Annotated[
        bool,
        flag("--key", "Ask for a key, or read it from standard input, and put it in the keyring."),
    ] = False,
) -> Outcome:
    """Choose a language model, write it into the settings, and test it.

    Services are ollama, lmstudio, llamacpp, vllm, openai, anthropic, google, mistral and
    openrouter. Without a name, or with a model's name alone, it is what answers where Ollama and
    LM Studio usually do; where there are several, you are asked. With --embedder an encoder is
    chosen instead: the library answers as before until every document has its vectors. With
    --reranker, a reranker.
    """
    if sum(map(bool, (name or key or rewriting, embedder, reranker))) > 1:
        raise typer.BadParameter("Choose one thing at a time: NAME, --embedder or --reranker.")
    if embedder:
        return _use_encoder(embedder, model)
    if reranker:
        return _use_reranker(reranker, model)
    return _use(name, model, key=key, rewriting=rewriting)


@app.command("test")
def try_out(
    name: Annotated[
        str, argument("[NAME]", "A model of the settings; else the library's own model.")
    ] = "",
) -> Outcome:
    """Ask the language model one question, and say whether it answers rightly.

    It is asked about a document of three lines, in a library made for it and deleted. Exit code 1
    says that it does not answer with the right citation.
    """
    place, own = named_folders()
    settings = load_settings(place, own)
    chosen = opening.settings_of(settings, name)
    trial = _try(chosen, place)
    code = OK if trial.passed else FAILED
    return Outcome(trial, _show_trial(trial), code)


def _use(name: str, model: str, *, key: bool, rewriting: bool) -> Outcome:
    place, own = named_folders()
    section = files.REWRITING if rewriting else files.LANGUAGE_MODEL
    files.require_effect(own, section)
    chosen = model_choice.choose(name, model, ask_key=key)
    place.mkdir(parents=True, exist_ok=True)
    if rewriting:
        wanted = chosen.settings.engine != "none"
        rewrites: dict[str, files.Value] = {"model": _REWRITING} if wanted else {}
        files.write_section(place, own, files.EXPANSION, rewrites)
    values = files.values_of(chosen.settings, section)
    written = files.write_section(place, own, section, values, chosen.unless_stated)
    settings = load_settings(place, own)
    data: dict[str, object] = {"written": written, "notes": chosen.notes, "trial": None}
    made = settings.models[_REWRITING] if rewriting else settings.language_model
    shown = _show_chosen(made, written, chosen.notes)
    if made.engine == "none":
        return Outcome({**data, "language_model": made}, shown)
    _say(f"{made.model} is chosen: {written.path}, line {written.line}.")
    trial = _try(made, place)
    data |= {"trial": trial, "language_model": made}
    code = OK if trial.passed else FAILED
    return Outcome(data, chain(shown, _show_trial(trial)), code)


def _use_reranker(name: str, model: str) -> Outcome:
    place, own = named_folders()
    files.require_effect(own, files.RERANK)
    _require_no_stored_engine(place)
    chosen = model_choice.reranker(name, model)
    tried = opening.open_reranker(chosen)  # one that does not work is not written down
    right = model_trial.try_reranker(tried) if tried else True
    place.mkdir(parents=True, exist_ok=True)
    values = files.values_of(chosen, files.RERANK)
    written = files.write_section(place, own, files.RERANK, values)
    data = {"written": written, "rerank": chosen.model_dump(mode="json"), "right_order": right}
    return Outcome(data, _show_reranker(chosen, written, right=right))


def _require_no_stored_engine(home: Path) -> None:
    """Refuse where the database of the workspace would win over what is written."""
    if "rerank.engine" in library_opening.resolve_settings(home, common().workspace).stored:
        raise UsageError(
            "The database of this workspace decides about the reranker.",
            hint="Reset it there: chapterhouse settings reset rerank.engine",
        )


def _try(chosen: LanguageModelSettings, place: Path) -> "model_trial.Trial":
    if chosen.engine != "none":
        place.mkdir(parents=True, exist_ok=True)
        _say("  asking a question of a document of three lines …")
    return model_trial.try_model(chosen, place)


def _say(sentence: str) -> None:
    """Tell somebody who waits at a terminal what is being done."""
    if is_watched() and not common().json:
        typer.echo(sentence, err=True)


# --- encoders -----------------------------------------------------------------------------------


def _use_encoder(embedder: str, model: str) -> Outcome:
    """Choose an encoder, and begin to make its vectors."""
    place, own = named_folders()
    files.require_effect(own)
    chosen = model_choice.encoder(embedder, model)
    place.mkdir(parents=True, exist_ok=True)
    files.write_encoder(place, own, chosen)
    with opened_library(create=True) as library:
        chunks, speed, problem = 0, 0.0, ""
        try:
            chunks, speed = library.encoders.speed()
        except EngineError as error:  # it is chosen all the same, and may be there later
            problem = f"{error.message} {error.hint}".strip()
        found = library.encoders.statuses()
        data = {
            "encoders": found,
            "chunks": chunks,
            "chunks_per_second": round(speed, 1),
            "problem": problem,
        }
        return Outcome(data, _show_encoder(found, chunks, speed, problem))


@app.command()
def embed(
    *, idle: Annotated[bool, flag("--idle", "Work at the lowest priority.")] = False
) -> Outcome:
    """Make the vectors that documents lack, read them for names, and wait for it.

    Commands do this in the background by themselves. Ctrl-C stops it; what was made is safe.
    """
    if idle:
        become_idle()

    with opened_library() as library:
        with progress.show_progress() as on_progress:
            found = library.encoders.embed_pending(on_progress)
        return Outcome({"encoders": found}, _encoders(found, ()))


@app.command()
def back() -> Outcome:
    """Return to the encoder before the present one, at once, or give up one that is being built."""
    with opened_library(background=False) as library:
        settings = library.encoders.previous()
        files.write_encoder(library.home, library.home / "workspaces" / library.workspace, settings)
        library.encoders.return_to_previous()
        found = library.encoders.statuses()
        return Outcome({"encoders": found}, _encoders(found, ()))


@app.command()
def forget() -> Outcome:
    """Delete the vectors of the previous encoder.

    There is no way back to it without making them again.
    """
    with opened_library() as library:
        number = library.encoders.forget()
        sentence = f"Deleted the vectors of {counted(number, 'document')}."
        return Outcome({"documents": number}, [verbatim(sentence)])


# --- what is shown ------------------------------------------------------------------------------


def _show_list(
    chosen: LanguageModelSettings, address: str, found: Sequence[EncoderStatus]
) -> Iterator[TerminalBlock]:
    if address:
        name = one_line(chosen.model), Style.STRONG
        yield verbatim("Language model: ", name, f" at {one_line(address)}.")
    else:
        yield verbatim(_NOTHING)
    if found:
        yield verbatim()
        yield from _encoders(found, cards.known_cards())


def _show_chosen(
    made: LanguageModelSettings, written: files.SettingsEdit, notes: Sequence[str]
) -> Iterator[TerminalBlock]:
    if made.engine != "none":
        place = made.base_url or made.engine
        yield verbatim((one_line(made.model), Style.STRONG), f" at {one_line(place)} is chosen.")
    for note in notes:
        yield verbatim(one_line(note))
    yield verbatim(f"Written to {one_line(written.path)}, line {written.line}.")


def _show_trial(tried: "model_trial.Trial") -> Iterator[TerminalBlock]:
    yield verbatim()
    yield verbatim((model_trial.QUESTION, Style.STRONG))
    yield verbatim(one_line(tried.answer.text), indent=4)
    for citation in tried.answer.citations:
        yield verbatim((f"[{citation.number}] “{one_line(citation.quote)}”", Style.QUIET), indent=4)
    yield verbatim()
    yield verbatim(("ok  ", Style.GOOD) if tried.passed else ("NO  ", Style.WARNING), tried.verdict)
    if tried.context_size:
        yield verbatim(f"    It takes {tried.context_size:,} tokens, prompt and answer together.")


def _show_reranker(
    made: RerankSettings, written: files.SettingsEdit, *, right: bool
) -> Iterator[TerminalBlock]:
    name = made.model or made.folder or made.engine
    yield verbatim((one_line(name), Style.STRONG), " orders passages from now on.")
    yield verbatim(f"Written to {one_line(written.path)}, line {written.line}.")
    if not right:
        yield verbatim("It put a passage that answers a question behind one that does not.")


def vector_rows(found: Sequence[EncoderStatus], documents: int) -> list[tuple[str, str]]:
    """Return rows of ``status``: how far an encoder is that is not complete, and why."""
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
                names = join_words([*map(language_name, entry.unserved)])
                rows.append(("", f"{others} in languages that it does not serve: {names}."))
        if entry.problem:
            rows.append(("", f"They could not be made: {entry.problem}"))
    return rows


def _encoders(
    found: Sequence[EncoderStatus], known: Sequence["cards.Card"]
) -> Iterator[TerminalBlock]:
    """List the encoders of a library, then those that are known."""
    named = ("in this library", lambda one: one.name)
    yield from table(found, named, "role", ("vectors of", _progress))
    for entry in found:
        if entry.problem:
            yield verbatim(f"{entry.name}: {entry.problem}")
    if not known:
        return
    yield verbatim()
    yield from table(
        known,
        ("known", lambda one: one.name),
        "licence",
        ("what it is", lambda one: one.summary),
    )


def _show_encoder(
    found: Sequence[EncoderStatus], chunks: int, speed: float, problem: str
) -> Iterator[TerminalBlock]:
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
            f"{_duration(chunks / speed)}."
        )
    yield verbatim(
        "Until then the library answers as before. Commands make the vectors in the "
        "background; to wait for them: chapterhouse model embed"
    )


def _duration(seconds: float) -> str:
    """Return a time for people: ``about 3 minutes``."""
    if seconds < _MINUTE:
        return "less than a minute"
    if seconds < 2 * _HOUR:
        return f"about {counted(round(seconds / _MINUTE), 'minute')}"
    return f"about {counted(round(seconds / _HOUR), 'hour')}"


def _progress(entry: EncoderStatus) -> str:
    return f"{entry.done:,} of {counted(entry.total, 'document')}"
