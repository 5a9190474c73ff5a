"""Real services on loopback, and tiny models in folders."""

import hashlib
import json
import ssl
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import save_file
from tests.models.chat_server import ChatServer, Script, chat_server
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from chapterhouse.models.chat import ChatModel
from chapterhouse.models.presets import address_of, key_source
from chapterhouse.models.service import Service as ModelService
from chapterhouse.settings import LanguageModelSettings

DIMENSIONS = 8
WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "ferry", "harbour", "leaves", "wind", "the", "at")


@dataclass(frozen=True)
class Request:
    """What a service was asked."""

    path: str
    headers: Mapping[str, str]
    body: Any


@dataclass(frozen=True)
class Reply:
    """What it says. Bytes are sent as they are, everything else as JSON."""

    body: Any = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0  # before it says it
    announced: int | None = None  # length that it claims, where that is not the true one


class QuietServer(ThreadingHTTPServer):
    """Does not print when a client goes away in the middle, as some tests make it."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            super().handle_error(request, client_address)


class Service:
    """An HTTP server that answers as a test tells it to, and remembers what it was asked."""

    reply = Reply  # tests cannot import this file

    def __init__(self) -> None:
        self.asked: list[Request] = []
        self.answer: Callable[[Request], Reply] = lambda _: Reply(status=404)
        service = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                size = int(self.headers["Content-Length"])
                body = json.loads(self.rfile.read(size))
                request = Request(self.path, dict(self.headers), body)
                service.asked.append(request)
                reply = service.answer(request)
                time.sleep(reply.seconds)
                data = (
                    reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
                )
                try:
                    self._send(reply, data)
                except OSError:  # the client has gone, as some tests make it
                    self.close_connection = True

            def _send(self, reply: Reply, data: bytes) -> None:
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                announced = len(data) if reply.announced is None else reply.announced
                self.send_header("Content-Length", str(announced))
                self.end_headers()
                self.wfile.write(data)
                if announced != len(data):
                    self.close_connection = True

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self._server = QuietServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    def encrypt(self, context: ssl.SSLContext) -> None:
        """Speak TLS from now on."""
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.url = self.url.replace("http:", "https:")

    def says(self, *replies: Reply) -> None:
        """Give these replies in turn, the last of them for ever."""
        given = len(self.asked)
        self.answer = lambda _: replies[min(len(self.asked) - given, len(replies)) - 1]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


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
    return Reply({"object": "list", "data": data, "model": request.body["model"]})


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
    return Reply({"results": results})


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


def write_tensors(path: Path, tensors: Mapping[str, NDArray[Any]]) -> None:
    save_file({name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}, path)


def bert_tensors(
    *, hidden: int = DIMENSIONS, layers: int = 2, prefix: str = "", positions: int = 24
) -> dict[str, NDArray[np.float32]]:
    """Return the weights of a small BERT with the head of a cross-encoder."""
    numbers = np.random.default_rng(7)

    def random(*shape: int) -> NDArray[np.float32]:
        return numbers.normal(0, 0.4, shape).astype(np.float32)

    tensors = {
        "embeddings.word_embeddings.weight": random(len(WORDS), hidden),
        "embeddings.position_embeddings.weight": random(positions, hidden),
        "embeddings.token_type_embeddings.weight": random(2, hidden),
        "embeddings.LayerNorm.weight": random(hidden) + 1,
        "embeddings.LayerNorm.bias": random(hidden),
        "pooler.dense.weight": random(hidden, hidden),
        "pooler.dense.bias": random(hidden),
    }
    for layer in range(layers):
        name = f"encoder.layer.{layer}"
        for part in ("query", "key", "value"):
            tensors[f"{name}.attention.self.{part}.weight"] = random(hidden, hidden)
            tensors[f"{name}.attention.self.{part}.bias"] = random(hidden)
        shapes = {
            "attention.output.dense": (hidden, hidden),
            "intermediate.dense": (2 * hidden, hidden),
            "output.dense": (hidden, 2 * hidden),
        }
        for part, shape in shapes.items():
            tensors[f"{name}.{part}.weight"] = random(*shape)
            tensors[f"{name}.{part}.bias"] = random(shape[0])
        for part in ("attention.output", "output"):
            tensors[f"{name}.{part}.LayerNorm.weight"] = random(hidden) + 1
            tensors[f"{name}.{part}.LayerNorm.bias"] = random(hidden)
    named = {f"{prefix}{name}": tensor for name, tensor in tensors.items()}
    named["classifier.weight"] = random(1, hidden)
    named["classifier.bias"] = random(1)
    return named


BERT_CONFIG = {
    "model_type": "bert",
    "_name_or_path": "tests/tiny-bert",
    "hidden_size": DIMENSIONS,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "hidden_act": "gelu",
    "layer_norm_eps": 1e-12,
    "max_position_embeddings": 24,
    "pad_token_id": 0,
}


@pytest.fixture
def bert_folder(tmp_path: Path) -> Path:
    """A BERT in safetensors."""
    folder = tmp_path / "tiny-bert"
    write_tokenizer(folder)
    write_tensors(folder / "model.safetensors", bert_tensors())
    (folder / "config.json").write_text(json.dumps(BERT_CONFIG))
    return folder


@pytest.fixture
def table_folder(tmp_path: Path) -> Path:
    """A static table in model2vec's layout."""
    folder = tmp_path / "tiny-table"
    write_tokenizer(folder)
    numbers = np.random.default_rng(3).normal(size=(len(WORDS), DIMENSIONS))
    write_tensors(folder / "model.safetensors", {"embeddings": numbers.astype(np.float16)})
    (folder / "config.json").write_text(json.dumps({"model_type": "model2vec"}))
    return folder


def write_onnx(
    path: Path,
    output: str,
    shape: Sequence[int | str],
    inputs: Sequence[str] = ("input_ids", "attention_mask"),
) -> None:
    """Write a graph that looks token vectors up, and sums them to scores where asked to."""
    onnx = pytest.importorskip("onnx")
    helper, kind = onnx.helper, onnx.TensorProto
    table = np.random.default_rng(5).normal(size=(len(WORDS), DIMENSIONS)).astype(np.float32)
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["vectors"])]
    if output == "logits":
        axes = onnx.numpy_helper.from_array(np.asarray([1, 2]), "axes")
        nodes.append(helper.make_node("ReduceSum", ["vectors", "axes"], ["sum"], keepdims=0))
        last = onnx.numpy_helper.from_array(np.asarray([-1]), "last")
        nodes.append(helper.make_node("Unsqueeze", ["sum", "last"], [output]))
        constants = [axes, last]
    else:
        nodes.append(helper.make_node("Identity", ["vectors"], [output]))
        constants = []
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info(name, kind.INT64, ["batch", "tokens"]) for name in inputs],
        [helper.make_tensor_value_info(output, kind.FLOAT, list(shape))],
        [onnx.numpy_helper.from_array(table, "table"), *constants],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(model.SerializeToString())


@pytest.fixture
def onnx_folder(tmp_path: Path) -> Path:
    """An encoder as an ONNX graph."""
    pytest.importorskip("onnxruntime")
    folder = tmp_path / "tiny-onnx"
    write_tokenizer(folder)
    write_onnx(folder / "onnx" / "model.onnx", "last_hidden_state", ["batch", "tokens", DIMENSIONS])
    (folder / "config.json").write_text(json.dumps({"hidden_size": DIMENSIONS}))
    return folder


@pytest.fixture
def onnx_cross_encoder(tmp_path: Path) -> Path:
    """A cross-encoder as an ONNX graph."""
    pytest.importorskip("onnxruntime")
    folder = tmp_path / "tiny-cross-encoder"
    write_tokenizer(folder)
    write_onnx(folder / "model.onnx", "logits", ["batch", 1])
    return folder


@pytest.fixture(name="write_onnx")
def write_onnx_fixture() -> Callable[..., None]:
    return write_onnx


@pytest.fixture(name="write_tensors")
def write_tensors_fixture() -> Callable[..., None]:
    return write_tensors


@pytest.fixture(name="bert_tensors")
def bert_tensors_fixture() -> Callable[..., dict[str, NDArray[np.float32]]]:
    return bert_tensors


@pytest.fixture(name="write_tokenizer")
def write_tokenizer_fixture() -> Callable[[Path], None]:
    return write_tokenizer


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
        source = key_source(settings, section)
        source.check(address_of(settings))
        place = ModelService(
            address_of(settings),
            section,
            source,
            settings.timeout_seconds,
            settings.attempts,
            settings.trust_environment,
            sleep,
            lambda: 0.5,
        )
        return ChatModel(settings, place), server

    return start
