"""Hosted services of language models: where they are, and where their keys may be.

None is asked anything before a user chooses it.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Final, Literal

from chapterhouse.errors import ChapterhouseError
from chapterhouse.models.keys import KeySource

KEYRING_SERVICE: Final = "chapterhouse"


@dataclass(frozen=True, slots=True)
class Hosted:
    """A hosted service.

    Attributes:
        name: What stands before the name of a model that is chosen: ``openai/NAME``.
        title: Its name for people.
        engine: Whose protocol it speaks.
        base_url: Its address; empty where the protocol has one.
        variables: Environment variables that usually hold its key.
    """

    name: str
    title: str
    engine: Literal["openai", "anthropic", "google"]
    base_url: str
    variables: tuple[str, ...]

    @property
    def entry(self) -> str:
        """Where a keyring holds its key."""
        return f"{KEYRING_SERVICE}/{self.name}"


HOSTED: Final[Mapping[str, Hosted]] = {
    hosted.name: hosted
    for hosted in (
        Hosted("openai", "OpenAI", "openai", "https://api.openai.com/v1", ("OPENAI_API_KEY",)),
        Hosted("anthropic", "Anthropic", "anthropic", "", ("ANTHROPIC_API_KEY",)),
        Hosted("google", "Google", "google", "", ("GEMINI_API_KEY", "GOOGLE_API_KEY")),
        Hosted(
            "openrouter",
            "OpenRouter",
            "openai",
            "https://openrouter.ai/api/v1",
            ("OPENROUTER_API_KEY",),
        ),
    )
}


def key_of(hosted: Hosted) -> KeySource | None:
    """Return where the key of a service is: a variable, else the keyring; None for nowhere."""
    for variable in hosted.variables:
        if os.environ.get(variable, "").strip():
            return KeySource("language_model", variable=variable)
    if find_spec("keyring") is None:
        return None
    source = KeySource("language_model", entry=hosted.entry)
    try:
        source.read(hosted.title)
    except ChapterhouseError:  # there is none, or the keyring is closed
        return None
    return source
