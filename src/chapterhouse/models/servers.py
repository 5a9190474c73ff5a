"""Programs that serve models on this machine, and what their answers say. Pure.

Ollama (https://github.com/ollama/ollama/blob/main/docs/api.md), LM Studio
(https://lmstudio.ai/docs/developer/rest), llama.cpp (tools/server/README.md there) and vLLM all
list their models as OpenAI does; how long a prompt may be each says in its own way.
"""

import ipaddress
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal
from urllib.parse import urlsplit

from chapterhouse.text.sanitise import sanitise_line

Kind = Literal["", "ollama", "lmstudio", "llamacpp", "vllm"]

TITLES: Final[Mapping[Kind, str]] = {
    "": "a model server",
    "ollama": "Ollama",
    "lmstudio": "LM Studio",
    "llamacpp": "llama.cpp",
    "vllm": "vLLM",
}
_OLLAMA_PORT: Final = 11_434
_LLAMA_PORT: Final = 8_080
_USUAL_PORTS: Final = (1_234, 8_000)  # LM Studio, vLLM
_MOST_MODELS: Final = 200
_LONGEST_NAME: Final = 200
_EMBEDDERS: Final = ("embed", "rerank", "bge-", "minilm")  # in names, where nothing else tells
_ANYWHERE: Final = frozenset({"0.0.0.0", "::"})  # noqa: S104 - what servers are told to listen on


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model that a server has.

    Attributes:
        name: As the server calls it.
        context: Tokens it takes as it is served now, prompt and answer together; 0: not said.
        longest: Tokens it could take; 0: not said.
        loaded: Whether it is in memory; None: not said.
        writes: Whether it writes, so is no embedder.
        tools: Whether it calls tools; None: not said.
        thinks: Whether it can think before it writes; None: not said.
    """

    name: str
    context: int = 0
    longest: int = 0
    loaded: bool | None = None
    writes: bool = True
    tools: bool | None = None
    thinks: bool | None = None


@dataclass(frozen=True, slots=True)
class Server:
    """What answers at an address.

    Attributes:
        kind: The program, empty for another one that speaks OpenAI's protocol.
        address: Scheme, host and port.
        slots: Requests it works on at once; 0: not said.
        problem: Why nothing more is known of it, a sentence's end; empty where all is well.
    """

    kind: Kind
    address: str
    models: tuple[ServedModel, ...] = ()
    slots: int = 0
    problem: str = ""

    @property
    def title(self) -> str:
        """The program's name for people."""
        return TITLES[self.kind]

    @property
    def base_url(self) -> str:
        """What belongs into the settings."""
        return f"{self.address}/v1"

    def model(self, name: str) -> ServedModel | None:
        """Return the model of this name; Ollama's ``:latest`` may be left out."""
        names = {name, f"{name}:latest"} if self.kind == "ollama" else {name}
        return next((model for model in self.models if model.name in names), None)


def usual_addresses(environment: Mapping[str, str], base_url: str = "") -> tuple[str, ...]:
    """Return the addresses of this machine at which models are usually served.

    Args:
        environment: ``OLLAMA_HOST``, ``LLAMA_ARG_HOST`` and ``LLAMA_ARG_PORT`` count, as they do
            for Ollama and llama.cpp.
        base_url: An address of the settings, which counts where it is of this machine.
    """
    ollama = ollama_address(environment.get("OLLAMA_HOST", ""))
    host = environment.get("LLAMA_ARG_HOST", "")
    port = environment.get("LLAMA_ARG_PORT", "")
    named = _address(host, int(port) if port.isdecimal() else _LLAMA_PORT)
    usual = [f"http://127.0.0.1:{port}" for port in _USUAL_PORTS]
    found = [origin(base_url), ollama, named, *usual]
    return tuple(dict.fromkeys(one for one in found if one and is_loopback(one)))


def ollama_address(named: str) -> str:
    """Return the address that ``OLLAMA_HOST`` means; empty where it means none."""
    named = named.strip().strip("\"'")
    if "://" not in named:
        host, _, port = named.rpartition(":")
        if ":" not in named or named.endswith("]") or (named.count(":") > 1 and named[0] != "["):
            host, port = named, str(_OLLAMA_PORT)  # no port, behind what may be an IPv6 address
        return _address(host.strip("[]"), int(port)) if port.isdecimal() else ""
    try:
        parts = urlsplit(named)
        port_number = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        return ""
    return _address(parts.hostname or "", port_number, parts.scheme)


def origin(url: str) -> str:
    """Return scheme, host and port of an address; empty where it is none."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}" if parts.scheme and parts.netloc else ""


def is_loopback(url: str) -> bool:
    """Whether an address leads to this machine and nowhere else."""
    host = urlsplit(url).hostname or ""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _address(host: str, port: int, scheme: str = "http") -> str:
    near = "127.0.0.1" if host in _ANYWHERE or not host else host
    shown = f"[{near}]" if ":" in near else near
    return f"{scheme}://{shown}:{port}" if 0 < port < 2**16 else ""


# --- what servers answer -------------------------------------------------------------------


def entries(answer: object, name: str = "data") -> list[Mapping[str, object]] | None:
    """Return the objects of a list in an answer; None where it is no such answer."""
    listed = answer.get(name) if isinstance(answer, Mapping) else None
    if not isinstance(listed, list):
        return None
    return [entry for entry in listed[:_MOST_MODELS] if isinstance(entry, Mapping)]


def vllm_models(listed: Sequence[Mapping[str, object]]) -> tuple[ServedModel, ...]:
    """Return the models of vLLM, which it lists as OpenAI does; none where it is another server."""
    if not any(entry.get("owned_by") == "vllm" or "max_model_len" in entry for entry in listed):
        return ()
    found = _named(listed, "id")
    return tuple(
        ServedModel(name, length, length, loaded=True, writes=writes_by_name(name))
        for name, entry in found
        for length in [whole(entry.get("max_model_len"))]
    )


def llama_cpp_server(
    address: str, listed: Sequence[Mapping[str, object]], props: object
) -> Server | None:
    """Return what llama.cpp says of itself; None where it is another server."""
    if not isinstance(props, Mapping) or "default_generation_settings" not in props:
        return None
    generation = props["default_generation_settings"]
    context = whole(generation.get("n_ctx")) if isinstance(generation, Mapping) else 0
    models = []
    for name, entry in _named(listed, "id"):
        meta = entry.get("meta")
        trained = whole(meta.get("n_ctx_train")) if isinstance(meta, Mapping) else 0
        models.append(ServedModel(name, context, trained, loaded=True, writes=writes_by_name(name)))
    return Server("llamacpp", address, tuple(models), whole(props.get("total_slots")))


def lm_studio_models(answer: object) -> tuple[ServedModel, ...] | None:
    """Return the models of LM Studio; None where it is another server."""
    listed = entries(answer)
    if listed is None or not any("max_context_length" in entry for entry in listed):
        return None
    return tuple(
        ServedModel(
            name,
            whole(entry.get("loaded_context_length")),
            whole(entry.get("max_context_length")),
            loaded=entry.get("state") == "loaded",
            writes=entry.get("type") in {"llm", "vlm"},
            tools="tool_use" in skills if isinstance(skills, list) else None,
        )
        for name, entry in _named(listed, "id")
        for skills in [entry.get("capabilities")]
    )


def ollama_model(name: str, shown: object, running: object) -> ServedModel:
    """Return what Ollama says of a model.

    Args:
        name: The model's name.
        shown: Its answer to ``/api/show``; None where there is none.
        running: Its answer to ``/api/ps``, likewise.
    """
    details = shown if isinstance(shown, Mapping) else {}
    info = details.get("model_info")
    longest = 0
    if isinstance(info, Mapping):
        lengths = (info[key] for key in info if str(key).endswith(".context_length"))
        longest = max(map(whole, lengths), default=0)
    inside = dict(_named(entries(running, "models") or [], "name"))
    loaded = name in inside
    context = whole(inside[name].get("context_length")) if loaded else 0
    skills = details.get("capabilities")
    known = isinstance(skills, list)
    return ServedModel(
        name,
        context or (0 if loaded else _stated_context(details.get("parameters"))),
        longest,
        loaded=loaded if running is not None else None,
        writes="completion" in skills if isinstance(skills, list) else writes_by_name(name),
        tools="tools" in skills if known and isinstance(skills, list) else None,
        thinks="thinking" in skills if known and isinstance(skills, list) else None,
    )


def plain_models(listed: Sequence[Mapping[str, object]]) -> tuple[ServedModel, ...]:
    """Return the models of a server that says no more than their names."""
    return tuple(ServedModel(name, writes=writes_by_name(name)) for name, _ in _named(listed, "id"))


def model_names(listed: Sequence[Mapping[str, object]]) -> list[str]:
    """Return the names that Ollama lists."""
    return [name for name, _ in _named(listed, "name")]


def writes_by_name(name: str) -> bool:
    """Whether a model writes, as far as its name tells."""
    return not any(part in name.lower() for part in _EMBEDDERS)


def whole(value: object) -> int:
    """Return a positive whole number; 0 for everything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _named(
    listed: Sequence[Mapping[str, object]], key: str
) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Yield the entries that have a usable name, with it."""
    for entry in listed:
        name = entry.get(key)
        # What would look otherwise on a terminal than it is cannot be chosen by its name.
        if isinstance(name, str) and 0 < len(name) <= _LONGEST_NAME and sanitise_line(name) == name:
            yield name, entry


def _stated_context(parameters: object) -> int:
    """Return the ``num_ctx`` that a model of Ollama comes with."""
    if not isinstance(parameters, str):
        return 0
    for line in parameters.splitlines():
        words = line.split()
        if len(words) == 2 and words[0] == "num_ctx" and words[1].isdecimal():  # noqa: PLR2004 - name, value
            return int(words[1][:9])
    return 0
