import re
import subprocess
import sys
import tomllib
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from chapterhouse.errors import UsageError
from chapterhouse.models.built_in import BuiltInEncoder
from chapterhouse.models.opening import (
    open_embedder,
    open_language_model,
    open_reranker,
    settings_of,
)
from chapterhouse.settings import EmbeddingSettings, RerankSettings, Settings

PAGE = Path(__file__).parents[2] / "docs" / "models.md"
BLOCKS = re.findall(r"^```toml\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
URL = "http://127.0.0.1:9/v1"


def test_without_settings_there_is_no_model() -> None:
    settings = Settings()
    assert isinstance(open_embedder(settings.embedding), BuiltInEncoder)
    assert open_reranker(settings.rerank) is None
    assert open_language_model(settings.language_model) is None
    assert open_reranker(RerankSettings(engine="none")) is None


def test_the_address_of_an_embedder_may_be_whole(embedding_service: Any) -> None:
    for address in ("", "/v1", "/v1/", "/v1/embeddings"):
        base_url = f"{embedding_service.origin}{address}"
        settings = EmbeddingSettings(engine="openai", model="m", base_url=base_url)
        assert open_embedder(settings).dimensions == 8
    assert {request.path for request in embedding_service.requests} == {"/v1/embeddings"}


def test_a_profile_is_found_by_its_name(closing: ExitStack) -> None:
    fast = {"engine": "google", "model": "gemini-2.5-flash"}
    settings = Settings.model_validate({"models": {"fast": fast, "deep": {}}})
    assert settings_of(settings, "fast").model == "gemini-2.5-flash"
    assert settings_of(settings, "") == settings.language_model
    with pytest.raises(UsageError, match="no model 'quick'; there are: deep, fast") as told:
        settings_of(settings, "quick")
    assert "[models.quick]" in told.value.hint
    with pytest.raises(UsageError, match="there are: none"):
        settings_of(Settings(), "quick")
    model = open_language_model(settings_of(settings, "fast"), "models.fast")
    assert model is not None
    assert model.fingerprint == "google/gemini-2.5-flash"


@pytest.mark.parametrize(
    ("section", "values", "says"),
    [
        ("embedding", {"engine": "openai"}, "base_url and model"),
        ("embedding", {"engine": "openai", "model": "m"}, "needs base_url"),
        ("embedding", {"engine": "folder"}, "needs folder"),
        ("embedding", {"shorten": True}, "shorten needs dimensions"),
        ("embedding", {"checksum": "12"}, "pattern"),
        ("embedding", {"base_url": "localhost:11434"}, "looks like"),
        ("embedding", {"base_url": "ftp://a/v1"}, "looks like"),
        ("embedding", {"base_url": "http://a:99999/v1"}, "[Pp]ort"),
        ("embedding", {"base_url": "https://me:pw@a/v1"}, "key_variable"),
        ("embedding", {"base_url": "https://a/v1?key=1"}, "key_variable"),
        ("embedding", {"key_variable": "sk-1234"}, "never the key"),
        ("rerank", {"engine": "http", "model": "m"}, "needs base_url"),
        ("rerank", {"engine": "folder"}, "needs folder"),
        ("language_model", {"engine": "openai", "base_url": URL}, "needs model"),
        ("language_model", {"engine": "anthropic"}, "needs model"),
        ("language_model", {"key_variable": "A", "key_entry": "a/b"}, "name one of"),
        ("language_model", {"key_file": "a", "key_entry": "a/b"}, "name one of"),
    ],
)
def test_settings_that_do_not_fit_are_told(section: str, values: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Settings.model_validate({section: values})


@pytest.mark.parametrize("block", BLOCKS)
def test_the_examples_of_the_documentation_are_settings(block: str) -> None:
    assert Settings.model_validate(tomllib.loads(block)) != Settings()


def test_starting_loads_no_engine() -> None:
    """Each costs a tenth of a second and more, which nobody without a model should pay."""
    code = (
        "import sys, chapterhouse, chapterhouse.library, chapterhouse.interfaces.cli.main\n"
        "heavy = {'httpx2', 'onnxruntime', 'tokenizers', "
        "'openai', 'jsonschema', 'keyring'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
        "print([name for name in sys.modules if name.startswith('chapterhouse.models.')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy, own = done.stdout.splitlines()
    assert heavy == "[]"
    assert not {"embedders", "built_in", "chat", "service"} & {
        name.rpartition(".")[2] for name in re.findall(r"[\w.]+", own)
    }


def test_what_speaks_to_models_is_loaded_late_and_reaches_nobody_then() -> None:
    code = (
        "import socket, sys, threading\n"
        "from chapterhouse.models.served import check_language_model\n"
        "from chapterhouse.settings import LanguageModelSettings\n"
        "here = {'engine': 'vllm', 'model': 'm', 'base_url': 'http://127.0.0.1:9/v1'}\n"
        "assert not check_language_model(LanguageModelSettings(**here)).passed\n"
        "assert 'openai' not in sys.modules\n"
        "def refuse(*given): sys.exit(f'asked for {given}')\n"
        "socket.socket.connect = socket.getaddrinfo = refuse\n"
        "import chapterhouse.models.chat, openai; openai.AsyncOpenAI, openai.AsyncStream\n"
        "assert threading.active_count() == 1\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)
