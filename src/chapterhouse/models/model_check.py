"""How the language model of the settings does."""

from chapterhouse.errors import ChapterhouseError
from chapterhouse.models.discovery import server_of_model
from chapterhouse.models.providers import base_address, require_extra
from chapterhouse.models.servers import Server, is_loopback
from chapterhouse.settings import LanguageModelSettings
from chapterhouse.text.counting import counted
from chapterhouse.types import Check

_NAME = "language model"
_TEST = "Try it out: chapterhouse model test"
_CHOOSE = "See what there is: chapterhouse model list"


def check_language_model(settings: LanguageModelSettings) -> Check | None:
    """Say how a language model does; None where the settings name none.

    A server on this machine is asked, for less than a second; one elsewhere is not.
    """
    if settings.engine == "none":
        return None
    place = base_address(settings)
    try:
        require_extra(settings.engine)
        server = server_of_model(settings) if is_loopback(place) else None
    except ChapterhouseError as error:
        problem, hint = error.message, error.hint
    else:
        problem, hint = _problem(settings, server) if is_loopback(place) else ("", "")
        said = _said(settings, server) if server else "not asked"
    shown = f"{settings.model} at {place}"
    if problem:
        return Check(_NAME, passed=False, sentence=f"{shown}: {problem}", hint=hint)
    return Check(_NAME, passed=True, sentence=f"{shown} ({said}).")


def _problem(settings: LanguageModelSettings, server: Server | None) -> tuple[str, str]:
    """Say what keeps a model of this machine from answering, and what to do; empty for nothing."""
    if server is None:
        return "nobody answers there, so the documents are quoted.", "Start its server."
    if server.problem:
        return f"the server {server.problem}.", _TEST
    # llama.cpp serves the one model it has, under any name.
    if server.model(settings.model) is None and server.kind != "llama.cpp":
        return f"{server.title} has no such model.", _CHOOSE
    return "", ""


def _said(settings: LanguageModelSettings, server: Server) -> str:
    model = server.model(settings.model)
    size = settings.context_size or (model.context if model else 0)
    at_once = settings.calls_at_once
    said = [server.title, f"{size:,} tokens" if size else ""]
    said.append(f"{counted(at_once, 'call')} at once" if at_once else "")
    return ", ".join(filter(None, said))
