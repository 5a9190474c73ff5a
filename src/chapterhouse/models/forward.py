"""What runs the model of a folder: an ONNX graph, BERT, or a table of token vectors."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from chapterhouse.errors import EngineError
from chapterhouse.models.bert import Bert, exact, quantize
from chapterhouse.models.model_folder import (
    CONFIG,
    LENGTHS,
    TOKENIZER,
    TOKENIZER_CONFIG,
    ModelFolder,
)
from chapterhouse.models.onnx import inference_session

if TYPE_CHECKING:
    from tokenizers import Tokenizer

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
    path = folder.path / folder.weights
    beside = any("onnx" in name and name != folder.weights for name in folder.hashes)
    session = inference_session(str(path) if beside else folder.read(folder.weights), str(path))
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
