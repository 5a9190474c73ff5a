"""A language model whose every use for one answer is counted, the rephrasing of questions too."""

import threading
from collections.abc import Callable, Sequence

from chapterhouse.concurrency import run_sync
from chapterhouse.telemetry import chat_span, record_writing
from chapterhouse.types import ModelLimits, OutputFormat, Tool, Usage, Writing
from chapterhouse.types.engines import LanguageModel


class Metered:
    """Passes everything on to a model, and adds up what was used."""

    def __init__(self, model: LanguageModel, payer: "Metered | None" = None) -> None:
        """Count what ``model`` uses; for ``payer`` too, where it works for another's answer."""
        self._model = model
        self._payer = payer
        self._lock = threading.Lock()
        self._usage = Usage()

    @property
    def fingerprint(self) -> str:
        """Name of the model."""
        return self._model.fingerprint

    @property
    def usage(self) -> Usage:
        """What was used until now."""
        return self._usage

    def limits(self) -> ModelLimits:
        """Return what the model takes."""
        return self._model.limits()

    def complete(self, instructions: str, prompt: str) -> str:
        """Return what the model writes; errors as the model's."""
        return run_sync(self.write(instructions, prompt)).text

    async def write(
        self,
        instructions: str,
        prompt: str,
        *,
        tools: Sequence[Tool] = (),
        on_text: Callable[[str], None] | None = None,
        output: OutputFormat | None = None,
    ) -> Writing:
        """Return what the model writes; errors as the model's."""
        with chat_span(self.fingerprint, instructions, prompt) as recorder:
            writing = await self._model.write(
                instructions, prompt, tools=tools, on_text=on_text, output=output
            )
            record_writing(recorder, writing)
        self._pay(writing.usage)
        return writing

    def _pay(self, used: Usage) -> None:
        with self._lock:
            self._usage += used
        if self._payer:
            self._payer._pay(used)  # noqa: SLF001 - of the same class
