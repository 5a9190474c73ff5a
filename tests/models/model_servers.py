"""Pages by which servers of models tell what they have, and a model that is good at everything."""

import json
from typing import Any

from tests.models.chat_server import Reply, Request

LINE = "The ferry to Osk leaves at 07:40 from pier 3."


def ollama(*names: str, context: int = 4_096, loaded: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the pages of Ollama."""

    return {
        "/v1/models": {"object": "list", "data": [{"id": n, "owned_by": "library"} for n in names]},
        "/api/ps": {"models": [{"name": name, "context_length": context} for name in loaded]},
    }


def lm_studio(*names: str, loaded: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the pages of LM Studio, which answers 200 to whatever it does not know."""
    models = [
        {
            "id": name,
            "type": "embeddings" if "embed" in name else "llm",
            "state": "loaded" if name in loaded else "not-loaded",
            "max_context_length": 131_072,
            **({"loaded_context_length": 8_192} if name in loaded else {}),
            "capabilities": ["tool_use"],
        }
        for name in names
    ]
    return {
        "/v1/models": {"data": [{"id": name, "owned_by": "organization_owner"} for name in names]},
        "/api/v0/models": {"object": "list", "data": models},
    }


def llama_cpp(name: str = "model.gguf", slots: int = 1, context: int = 4_096) -> dict[str, Any]:
    """Return the pages of llama.cpp, which also has Ollama's list."""
    listed = {
        "models": [{"name": name, "model": name}],
        "object": "list",
        "data": [{"id": name, "owned_by": "llamacpp", "meta": {"n_ctx_train": 32_768}}],
    }
    props = {"default_generation_settings": {"n_ctx": context}, "total_slots": slots}
    return {"/v1/models": listed, "/props": props}


def vllm(*names: str, length: int = 16_384) -> dict[str, Any]:
    """Return the pages of vLLM."""
    models = [{"id": name, "owned_by": "vllm", "max_model_len": length} for name in names]
    return {"/v1/models": {"object": "list", "data": models}}


def good(request: Request) -> Reply:
    """Answer as a model does that answers well."""
    text, system = request.everything_else, request.system
    if '"terms"' in system:
        terms = {"parts": [], "terms": ["departure", "sailing", "berth"], "passage": ""}
        return Reply(json.dumps(terms))
    return Reply(f"{LINE} [1]" if "[1] " in text else "ready")
