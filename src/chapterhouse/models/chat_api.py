"""A language model behind any service that speaks OpenAI's ``/chat/completions``.

https://platform.openai.com/docs/api-reference/chat
"""

import re
import threading
from dataclasses import dataclass
from typing import Final

from chapterhouse.errors import EngineError
from chapterhouse.models.http import JsonClient

# What reasoning models think aloud before they answer, when a service leaves it in the answer.
_THOUGHT: Final = re.compile(r"\A\s*<think>.*?(?:</think>|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Usage:
    """What a model was used for until now. Tokens are as the service counts them."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


class ApiLanguageModel:
    """Text from a service. Safe to share between threads."""

    def __init__(
        self, client: JsonClient, name: str, maximum_tokens: int, *, reasoning: bool = False
    ) -> None:
        """Remember whom to ask.

        Args:
            client: Posts to the service.
            name: The model, as the service calls it.
            maximum_tokens: Of what it writes.
            reasoning: Whether it is a model that refuses a temperature and counts its thoughts.
        """
        self._client = client
        self._name = name
        self._maximum_tokens = maximum_tokens
        self._reasoning = reasoning
        self._lock = threading.Lock()
        self._usage = Usage()

    @property
    def fingerprint(self) -> str:
        """Name of the model."""
        return f"openai/{self._name}"

    @property
    def usage(self) -> Usage:
        """What it was used for until now."""
        return self._usage

    def complete(self, instructions: str, prompt: str) -> str:
        """Return what the model writes, without what it thinks.

        Args:
            instructions: The system message; none where empty.
            prompt: The user's message.

        Raises:
            EngineError: the service cannot be reached, or gave nothing.
        """
        messages = [{"role": "system", "content": instructions}] if instructions else []
        messages.append({"role": "user", "content": prompt})
        limit: dict[str, object] = (
            {"max_completion_tokens": self._maximum_tokens}
            if self._reasoning
            else {"max_tokens": self._maximum_tokens, "temperature": 0}
        )
        answer = self._client.post({"model": self._name, "messages": messages, **limit})
        self._count(answer)
        text = _THOUGHT.sub("", _written(answer)).strip()
        if not text:
            raise EngineError(
                f"The language model {self._name} wrote nothing.",
                hint="Raise language_model.maximum_tokens if it thinks at length before it writes.",
            )
        return text

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _count(self, answer: object) -> None:
        stated = answer.get("usage") if isinstance(answer, dict) else None
        usage = stated if isinstance(stated, dict) else {}
        with self._lock:
            self._usage = Usage(
                self._usage.calls + 1,
                self._usage.prompt_tokens + _number(usage.get("prompt_tokens")),
                self._usage.completion_tokens + _number(usage.get("completion_tokens")),
            )


def _number(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def _written(answer: object) -> str:
    """Return the text of the first choice, which some services send in parts."""
    try:
        content = answer["choices"][0]["message"]["content"]  # type: ignore[index]  # tried
    except (KeyError, IndexError, TypeError):
        raise EngineError(
            "The language model's service gave a response without a message.",
            hint="Is language_model.base_url the address of an OpenAI-compatible service?",
        ) from None
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""
