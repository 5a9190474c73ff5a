"""Real services on loopback, and tiny models in folders."""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.models.chat_server import ChatServer, Reply, Request, Script, chat_server
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from chapterhouse.models.chat import ChatModel
from chapterhouse.models.embedders import FolderEmbedder
from chapterhouse.models.model_folder import open_model_folder
from chapterhouse.models.presets import address_of, key_source
from chapterhouse.models.service import Service as ModelService
from chapterhouse.settings import EmbeddingSettings, LanguageModelSettings

DIMENSIONS = 8
WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "ferry", "harbour", "leaves", "wind", "the", "at")


class Service(ChatServer):
    """A service of embeddings or scores, which answers as a test tells it to."""

    def __init__(self) -> None:
        super().__init__(self._answered)
        self.answer: Callable[[Request], Reply] = lambda _: Reply(status=404)

    def _answered(self, request: Request) -> Reply:
        return self.answer(request)

    @staticmethod
    def reply(body: Any = b"", **more: Any) -> Reply:
        """Return what it says: bytes are sent as they are, everything else as JSON."""
        return Reply(body=body, **more)

    def says(self, *replies: Reply) -> None:
        """Give these replies in turn, the last of them for ever."""
        given = len(self.requests)
        self.answer = lambda _: replies[min(len(self.requests) - given, len(replies)) - 1]


@pytest.fixture
def service() -> Iterator[Service]:
    opened = Service()
    yield opened
    opened.close()


def hashed(text: str, dimensions: int = DIMENSIONS) -> list[float]:
    """Return numbers in which texts with the same words are alike."""
    vector = np.zeros(dimensions)
    for word in text.casefold().replace(".", " ").replace("?", " ").split():
        digest = hashlib.sha256(word.encode()).digest()
        vector += np.frombuffer(digest[:dimensions], dtype=np.uint8) - 127.5
    return [float(number) for number in vector]


def embeddings(request: Request) -> Reply:
    """Answer as OpenAI's ``/embeddings`` does."""
    data = [
        {"object": "embedding", "index": place, "embedding": hashed(text)}
        for place, text in enumerate(request.body["input"])
    ]
    return Reply(body={"object": "list", "data": data, "model": request.body["model"]})


def overlaps(request: Request) -> Reply:
    """Answer as a reranking service does: by words in common, best first."""
    asked = set(request.body["query"].casefold().split())
    scores = [
        (len(asked & set(text.casefold().split())), place)
        for place, text in enumerate(request.body["documents"])
    ]
    results = [
        {"index": place, "relevance_score": score / 10}
        for score, place in sorted(scores, reverse=True)
    ]
    return Reply(body={"results": results})


@pytest.fixture
def embedding_service(service: Service) -> Service:
    service.answer = embeddings
    return service


@pytest.fixture
def rerank_service(service: Service) -> Service:
    service.answer = overlaps
    return service


def write_tokenizer(folder: Path) -> None:
    """Write a tokenizer that knows a few words and wraps texts as BERT does."""
    tokenizer = Tokenizer(
        models.WordLevel({word: number for number, word in enumerate(WORDS)}, unk_token="[UNK]")
    )
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    tokenizer.enable_padding(length=16)  # as many folders have it, and nobody should heed
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))


def write_onnx(
    path: Path,
    output: str = "last_hidden_state",
    inputs: Sequence[str] = ("input_ids", "attention_mask"),
    *,
    words: int = len(WORDS),
    hidden: int = DIMENSIONS,
) -> None:
    """Write a graph that looks token vectors up, and sums them to scores where asked to."""
    onnx = pytest.importorskip("onnx")
    helper, kind, array = onnx.helper, onnx.TensorProto, onnx.numpy_helper.from_array
    table = np.random.default_rng(5).normal(size=(words, hidden)).astype(np.float32)
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["vectors"])]
    if output == "logits":
        nodes.append(helper.make_node("ReduceSum", ["vectors", "axes"], ["sum"], keepdims=0))
        nodes.append(helper.make_node("Unsqueeze", ["sum", "last"], [output]))
    else:
        nodes.append(helper.make_node("Identity", ["vectors"], [output]))
    shape = ["batch", 1] if output == "logits" else ["batch", "tokens", hidden]
    constants = {"table": table, "axes": np.asarray([1, 2]), "last": np.asarray([-1])}
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info(name, kind.INT64, ["batch", "tokens"]) for name in inputs],
        [helper.make_tensor_value_info(output, kind.FLOAT, shape)],
        [array(values, name) for name, values in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(model.SerializeToString())


def write_model(folder: Path, output: str = "last_hidden_state", hidden: int = DIMENSIONS) -> Path:
    """Write a model as it lies on the hub: an encoder, or with ``logits`` a cross-encoder."""
    write_tokenizer(folder)
    write_onnx(folder / "onnx" / "model.onnx", output, hidden=hidden)
    config = {
        "model_type": "bert",
        "_name_or_path": "tests/tiny-model",
        "hidden_size": hidden,
        "max_position_embeddings": 24,
    }
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def open_folder_embedder(folder: Path, **around: Any) -> FolderEmbedder:
    model = open_model_folder(str(folder), section="embedding")
    return FolderEmbedder(model, EmbeddingSettings(engine="folder", folder=str(folder), **around))


def change(folder: Path, name: str, **values: Any) -> None:
    """Change values of a JSON file in a model's folder."""
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    known = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps(known | values))


@pytest.fixture
def model_folder(tmp_path: Path) -> Path:
    """An encoder in a folder."""
    return write_model(tmp_path / "tiny-model")


@pytest.fixture
def cross_encoder_folder(tmp_path: Path) -> Path:
    """A cross-encoder in a folder."""
    return write_model(tmp_path / "tiny-cross-encoder", "logits")


@pytest.fixture(name="write_onnx")
def write_onnx_fixture() -> Callable[..., None]:
    return write_onnx


@pytest.fixture
def closing() -> Iterator[ExitStack]:
    """Closes in the end what a test opens."""
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def slept() -> list[float]:
    """The pauses of the models that ``serve`` opens, which do not really wait."""
    return []


@pytest.fixture
def serve(closing: ExitStack, slept: list[float]) -> Callable[..., Any]:
    """Start a scripted service of a language model, and open the model that asks it."""

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    def start(
        script: Script, *, section: str = "language_model", **changes: Any
    ) -> tuple[ChatModel, ChatServer]:
        server = closing.enter_context(chat_server(script))
        values = {"engine": "openai", "base_url": server.url, "model": "writer", **changes}
        settings = LanguageModelSettings.model_validate(values)
        source, address = key_source(settings, section), address_of(settings)
        source.check(address)
        bounds = (settings.timeout_seconds, settings.attempts, settings.trust_environment)
        place = ModelService(address, section, source, *bounds, sleep, lambda: 0.5)
        return ChatModel(settings, place), server

    return start
