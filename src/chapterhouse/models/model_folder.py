"""A folder with the files of one model, known by their hashes, and what runs them.

The layout is that of the Hugging Face hub: ``config.json``, ``tokenizer.json`` and either
``model.safetensors`` (BERT, or a table of token vectors) or an ONNX export, which may lie in
``onnx/``.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from chapterhouse.errors import EngineError, UsageError
from chapterhouse.text.sanitise import sanitise_line

if TYPE_CHECKING:
    from tokenizers import Tokenizer

CONFIG: Final = "config.json"
TOKENIZER: Final = "tokenizer.json"
POOLING: Final = "1_Pooling/config.json"
LENGTHS: Final = "sentence_bert_config.json"
MODULES: Final = "modules.json"
TOKENIZER_CONFIG: Final = "tokenizer_config.json"
SPECIAL_TOKENS: Final = "special_tokens_map.json"
_USED: Final = (
    CONFIG,
    TOKENIZER,
    TOKENIZER_CONFIG,
    SPECIAL_TOKENS,
    POOLING,
    LENGTHS,
    MODULES,
)
# In order of preference, whatever is installed: what a library was built with must not depend on
# it. The ONNX export is about twice as fast as reading the same weights with NumPy.
_WEIGHTS: Final = ("model.onnx", "onnx/model.onnx", "model.safetensors")
_LONGEST_NAME: Final = 80
_ONNX_DATA: Final = (".onnx_data", ".onnx.data")  # weights beyond 2 GB lie beside the graph

Numbers = NDArray[np.float32]
# The tokens of one text or pair and to which of the two each belongs, shape (tokens,), to what
# the model gives: shape (tokens, n) for each token, or (n,) for all.
Forward = Callable[[NDArray[np.int64], NDArray[np.int64]], Numbers]

_TABLES: Final = ("embeddings", "embedding.weight")  # model2vec's and wordllama's name for it
_LONGEST: Final = 512  # tokens, where the model does not say
_LIMIT: Final = 8_192  # tokens: the work grows with their square
_ROBERTA_OFFSET: Final = 2  # positions that RoBERTa does not use
_POOLED: Final = ("sentence_embedding", "logits")  # outputs preferred to the first one


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """The files of a model.

    Attributes:
        path: The folder.
        weights: Name in it of the file with the weights.
        hashes: SHA-256 of every file that is used, by name.
    """

    path: Path
    weights: str
    hashes: Mapping[str, str]

    @property
    def is_onnx(self) -> bool:
        """Whether the weights are an ONNX graph."""
        return self.weights.endswith(".onnx")

    @property
    def checksum(self) -> str:
        """SHA-256 over all files: what ``sha256sum FILES | sha256sum`` gives in order of name."""
        lines = "".join(f"{self.hashes[name]}  {name}\n" for name in sorted(self.hashes))
        return hashlib.sha256(lines.encode("utf-8")).hexdigest()

    @property
    def name(self) -> str:
        """What the model calls itself, else what its folder is called."""
        stated = str(self.json(CONFIG).get("_name_or_path") or self.path.name)
        return sanitise_line(stated.rstrip("/").rpartition("/")[2])[:_LONGEST_NAME]

    @property
    def fingerprint(self) -> str:
        """Name of the model and hash of its files."""
        return f"folder/{self.name}/{self.checksum[:16]}"

    def read(self, name: str) -> bytes:
        """Return the content of a file, the one that was hashed.

        Raises:
            EngineError: it is gone or has changed since.
        """
        try:
            data = (self.path / name).read_bytes()
        except OSError as error:
            raise EngineError(f"{self.path / name} cannot be read: {error.strerror}") from error
        if hashlib.sha256(data).hexdigest() != self.hashes[name]:
            raise EngineError(
                f"{self.path / name} has changed since the library was opened.",
                hint="Run the command again.",
            )
        return data

    def json(self, name: str) -> Mapping[str, Any]:
        """Return what a file of settings says; nothing where there is none.

        Raises:
            EngineError: it is not a JSON object.
        """
        if name not in self.hashes:
            return {}
        try:
            value = json.loads(self.read(name))
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            raise EngineError(f"{self.path / name} is not a JSON object.")
        return value


def open_model_folder(
    folder: str, file: str = "", checksum: str = "", *, section: str
) -> ModelFolder:
    """Return the model in ``folder``.

    Args:
        folder: Its path; ``~`` is the user's home.
        file: Name of the weights in it; found where empty.
        checksum: What ``ModelFolder.checksum`` must be; anything where empty.
        section: The section of the settings that names it, for hints.

    Raises:
        UsageError: there is no model in the folder, or its path is not absolute.
        EngineError: its files are not the ones of ``checksum``.
    """
    path = Path(folder).expanduser()
    if not path.is_absolute():  # else it would depend on where a command is called
        raise UsageError(
            f"The model folder '{folder}' is not an absolute path.",
            hint=f"Begin {section}.folder with / or ~.",
        )
    weights = file or _found(path, section)
    external_data = [f"{weights.removesuffix('.onnx')}{ending}" for ending in _ONNX_DATA]
    names = [name for name in (weights, *_USED, *external_data) if (path / name).is_file()]
    for needed in (weights, TOKENIZER):
        if needed not in names:
            raise UsageError(
                f"There is no {needed} in the model folder {path}.",
                hint=f"Look at {section}.folder and {section}.file.",
            )
    model = ModelFolder(path, weights, {name: _sha256(path / name) for name in names})
    if checksum and model.checksum != checksum:
        raise EngineError(
            f"The model in {path} is not the one that {section}.checksum names: "
            f"its files ({', '.join(sorted(names))}) give {model.checksum}.",
            hint=f"Fetch the model again, or change {section}.checksum if you trust it.",
        )
    return model


def _found(path: Path, section: str) -> str:
    if not path.is_dir():
        raise UsageError(
            f"The model folder {path} is not there.", hint=f"Look at {section}.folder."
        )
    for name in _WEIGHTS:
        if (path / name).is_file():
            return name
    found = sorted(file.name for file in path.iterdir() if file.suffix in {".onnx", ".safetensors"})
    if len(found) != 1:
        raise UsageError(
            f"The model folder {path} holds {len(found)} files of weights.",
            hint=f"Name one in {section}.file: {', '.join(found) or 'an ONNX or safetensors file'}",
        )
    return found[0]


def _sha256(path: Path) -> str:
    """Return the hash of a file; 2 GB take about a second."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@dataclass(frozen=True, slots=True)
class LocalModel:
    """A tokenizer and what runs on its tokens."""

    tokenizer: "Tokenizer"
    forward: Forward
    special_tokens: bool = True

    def run(self, text: str, pair: str | None = None) -> Numbers:
        """Return what the model gives for a text, or for a text and another."""
        encoding = self.tokenizer.encode(text, pair, add_special_tokens=self.special_tokens)
        ids = np.asarray(encoding.ids, dtype=np.int64)
        try:
            return self.forward(ids, np.asarray(encoding.type_ids, dtype=np.int64))
        except (IndexError, KeyError, ValueError) as error:
            raise EngineError(
                f"The model's files do not belong together: {type(error).__name__}: {error}",
                hint="Fetch the model again, all files of one version.",
            ) from error


def load(folder: ModelFolder, head: Literal["hidden", "logits"]) -> LocalModel:
    """Read the model of a folder.

    Args:
        folder: Where it is.
        head: Whether its hidden states are wanted, or the scores of a cross-encoder.

    Raises:
        EngineError: it is a kind of model that cannot be run, or its files are damaged.
    """
    from chapterhouse.models.bert import Bert, exact, quantize  # noqa: PLC0415 - only needed here

    tokenizer = _tokenizer(folder)
    if folder.is_onnx:
        return LocalModel(tokenizer, _onnx(folder))
    tensors, config = _tensors(folder), folder.json(CONFIG)
    for name in _TABLES:
        if name in tensors and tensors[name].ndim == 2:  # noqa: PLR2004 - a table
            tokenizer.no_truncation()
            forward = _table(tensors[name], tensors, _unknown(tokenizer))
            return LocalModel(tokenizer, forward, special_tokens=False)
    if head == "hidden":
        return LocalModel(tokenizer, Bert(tensors, config, quantize).hidden)
    return LocalModel(tokenizer, Bert(tensors, config, exact).logits)


def table_dimensions(folder: ModelFolder) -> int:
    """Return the length of the vectors of a table, without reading it; 0 where it is none."""
    if folder.is_onnx:
        return 0
    from safetensors import SafetensorError, safe_open  # noqa: PLC0415 - only needed here

    try:
        with safe_open(folder.path / folder.weights, framework="numpy") as opened:
            for name in set(_TABLES) & set(opened.keys()):
                return int(opened.get_slice(name).get_shape()[-1])
    except SafetensorError as error:
        raise _damaged(folder, error) from error
    return 0


def _tokenizer(folder: ModelFolder) -> "Tokenizer":
    from tokenizers import Tokenizer  # noqa: PLC0415 - heavy, and only needed here

    try:
        tokenizer = Tokenizer.from_str(folder.read(TOKENIZER).decode("utf-8"))
    except Exception as error:  # it raises nothing narrower
        raise EngineError(f"{folder.path / TOKENIZER} is no tokenizer: {error}") from error
    tokenizer.no_padding()
    tokenizer.enable_truncation(_longest(folder), strategy="longest_first")
    return tokenizer


def _longest(folder: ModelFolder) -> int:
    config = folder.json(CONFIG)
    positions = int(config.get("max_position_embeddings") or _LONGEST)
    if "roberta" in str(config.get("model_type", "")):
        positions -= _ROBERTA_OFFSET
    stated = (
        folder.json(LENGTHS).get("max_seq_length"),
        folder.json(TOKENIZER_CONFIG).get("model_max_length"),  # 1e30 where nobody knew
    )
    return min(positions, *(int(length) for length in stated if length), _LIMIT)


def _tensors(folder: ModelFolder) -> Mapping[str, NDArray[Any]]:
    from safetensors import SafetensorError  # noqa: PLC0415 - only needed here
    from safetensors.numpy import load as load_tensors  # noqa: PLC0415 - likewise

    try:
        tensors: Mapping[str, NDArray[Any]] = load_tensors(folder.read(folder.weights))
    except (SafetensorError, KeyError, TypeError) as error:  # the latter two: number types
        raise _damaged(folder, error) from error
    return tensors


def _damaged(folder: ModelFolder, error: Exception) -> EngineError:
    return EngineError(
        f"{folder.path / folder.weights} cannot be read: {error}",
        hint="Fetch the model again; numbers must be 16- or 32-bit floats.",
    )


def _onnx(folder: ModelFolder) -> Forward:
    from chapterhouse.models.onnx import inference_session  # noqa: PLC0415 - only needed here

    path = folder.path / folder.weights
    external_data = any("onnx" in name and name != folder.weights for name in folder.hashes)
    session = inference_session(
        str(path) if external_data else folder.read(folder.weights), str(path)
    )
    inputs = [entry.name for entry in session.get_inputs()]
    outputs = [entry.name for entry in session.get_outputs()]
    unknown = set(inputs) - {"input_ids", "attention_mask", "token_type_ids", "position_ids"}
    if unknown:
        raise EngineError(
            f"The ONNX model {path} asks for {', '.join(sorted(unknown))}.",
            hint="Name the export of a text encoder.",
        )
    output = next((name for name in _POOLED if name in outputs), outputs[0])
    return partial(_run_onnx, session, inputs, output)


def _run_onnx(
    session: Any,
    inputs: Sequence[str],
    output: str,
    ids: NDArray[np.int64],
    types: NDArray[np.int64],
) -> Numbers:
    """Run one text alone: the scales of an 8-bit model depend on all that is run with it."""
    given = {
        "input_ids": ids,
        "attention_mask": np.ones_like(ids),
        "token_type_ids": types,
        "position_ids": np.arange(len(ids), dtype=np.int64),
    }
    try:
        (result,) = session.run([output], {name: given[name][None] for name in inputs})
    except Exception as error:  # one class per status code, without a common one
        raise EngineError(f"The ONNX model failed on a text: {error}") from error
    numbers: Numbers = np.asarray(result, dtype=np.float32)[0]
    return numbers


def _unknown(tokenizer: "Tokenizer") -> int:
    """Return the id of the token for what the table does not know, or -1."""
    found = (tokenizer.token_to_id(name) for name in ("[UNK]", "<unk>"))
    return next((number for number in found if number is not None), -1)


def _table(table: NDArray[Any], tensors: Mapping[str, NDArray[Any]], unknown: int) -> Forward:
    """Return the weighted mean of the tokens' vectors.

    ``weights`` and ``mapping`` are those of model2vec 0.6 and later, one number a token:
    https://github.com/MinishLab/model2vec
    """
    vectors = table.astype(np.float32)
    weights, mapping = tensors.get("weights"), tensors.get("mapping")

    def mean(ids: NDArray[np.int64], _: NDArray[np.int64]) -> Numbers:
        known = ids[ids != unknown]
        if not len(known):
            return np.zeros(vectors.shape[1], dtype=np.float32)
        rows = vectors[known if mapping is None else mapping[known].astype(np.int64)]
        if weights is not None:
            rows = rows * weights[known].astype(np.float32)[:, None]
        pooled: Numbers = rows.mean(axis=0)
        return pooled

    return mean
