"""The language models that the settings name, each opened when it is first asked for."""

import threading
from contextlib import ExitStack
from typing import TYPE_CHECKING

from chapterhouse.loading import lazy
from chapterhouse.models.opening import open_language_model, settings_of
from chapterhouse.ports.models import LanguageModel
from chapterhouse.settings import LanguageModelSettings, Settings

if TYPE_CHECKING:
    from chapterhouse.models import providers
else:
    providers = lazy("chapterhouse.models.providers")


class LanguageModels:
    """The language models of a library, each opened when it is first asked for."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._opened: dict[str, LanguageModel | None] = {}
        self._slots: dict[str, providers.Slots] = {}
        self._lock = threading.Lock()
        self._closing = ExitStack()

    def named(self, name: str = "") -> LanguageModel | None:
        """Return the model of a name; the library's own for "", None where there is none.

        Raises:
            UsageError: there is no such model, or its key would travel unencrypted.
            MissingExtraError: its extra is not installed.
        """
        with self._lock:
            if name not in self._opened:
                chosen = settings_of(self._settings, name)
                if chosen.engine == "none":
                    return None
                section = f"models.{name}" if name else "language_model"
                self._opened[name] = open_language_model(
                    chosen, self._closing.callback, section, self._slots_of(chosen)
                )
            return self._opened[name]

    def _slots_of(self, chosen: LanguageModelSettings) -> "providers.Slots":
        """Return the slots of a model's server, which all models that it serves share."""
        every = (self._settings.language_model, *self._settings.models.values())
        server = providers.server_of(chosen)
        limits = [
            one.calls_at_once
            for one in every
            if one.calls_at_once and providers.server_of(one) == server
        ]
        return self._slots.setdefault(server, providers.Slots(min(limits, default=0)))

    def close(self) -> None:
        """Close what the models hold open."""
        self._closing.close()
