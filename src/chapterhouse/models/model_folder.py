"""A folder with the files of one model, known by their hashes, and what runs them.

The layout is that of the Hugging Face hub: ``config.json``, ``tokenizer.json`` and an ONNX export,
which may lie in ``onnx/``.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from chapterhouse import lazy
from chapterhouse.errors import EngineError, UsageError
from chapterhouse.text.sanitise import sanitise_line

if TYPE_CHECKING:
    import onnxruntime
    import tokenizers
else:
    onnxruntime = lazy("onnxruntime")
    tokenizers = lazy("tokenizers")

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
_WEIGHTS: Final = ("model.onnx", "onnx/model.onnx")  # in order of preference
_LONGEST_NAME: Final = 80
_ONNX_DATA: Final = (".onnx_data", ".onnx.data")  # weights beyond 2 GB lie beside the graph
_ERRORS_ONLY: Final = 3  # a level of ONNX Runtime's log

_LONGEST: Final = 512  # tokens, where the model does not say
_LIMIT: Final = 8_192  # tokens: the work grows with their square
_ROBERTA_OFFSET: Final = 2  # positions that RoBERTa does not use
_INPUTS: Final = frozenset({"input_ids", "attention_mask", "token_type_ids", "position_ids"})
_POOLED: Final = ("sentence_embedding", "logits")  # outputs preferred to the first one


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """The files of a model.

    Attributes:
        weights: Name in it of the ONNX file.
        hashes: SHA-256 of every file that is used, by name.
    """

    path: Path
    weights: str
    hashes: Mapping[str, str]

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
        file: Name of the ONNX file in it; found where empty.
        checksum: What ``ModelFolder.checksum`` must be; anything where empty.
        section: The section of the settings that names it, for hints.

    Raises:
        UsageError: there is no ONNX model in the folder, or its path is not absolute.
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
    if not weights.endswith(".onnx"):
        raise _no_onnx(path, weights, section)
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
    found = sorted(file.name for file in path.glob("*.onnx"))
    if not found:
        raise _no_onnx(path, "", section)
    if len(found) > 1:
        raise UsageError(
            f"The model folder {path} holds {len(found)} ONNX files.",
            hint=f"Name one in {section}.file: {', '.join(found)}",
        )
    return found[0]


def _no_onnx(path: Path, file: str, section: str) -> UsageError:
    what = f"{file} in the model folder {path} is" if file else f"The model folder {path} has"
    return UsageError(
        f"{what} no ONNX file, and only those run here.",
        hint="Fetch the model's onnx/model.onnx into it, or export one with Optimum "
        f"(optimum-cli export onnx). The setting is {section}.folder.",
    )


def _sha256(path: Path) -> str:
    """Return the hash of a file; 2 GB take about a second."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@dataclass(frozen=True, slots=True)
class LocalModel:
    """A tokenizer and the graph that runs on its tokens.

    Attributes:
        output: Which of the graph's outputs is wanted.
    """

    tokenizer: "tokenizers.Tokenizer"
    session: Any
    output: str

    def run(self, text: str, pair: str | None = None) -> NDArray[np.float32]:
        """Return what the model gives for a text, or for a text and another.

        One alone: the scales of an 8-bit model depend on all that is run with it.

        Returns:
            Shape (tokens, n) where it gives something for each token, else (n,).
        """
        encoding = self.tokenizer.encode(text, pair)
        ids = np.asarray(encoding.ids, dtype=np.int64)
        given = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.asarray(encoding.type_ids, dtype=np.int64),
            "position_ids": np.arange(len(ids), dtype=np.int64),
        }
        inputs = {entry.name: given[entry.name][None] for entry in self.session.get_inputs()}
        (result,) = run_session(self.session, [self.output], inputs)
        numbers: NDArray[np.float32] = result[0]
        return numbers


def load(folder: ModelFolder) -> LocalModel:
    """Read the model of a folder.

    Raises:
        EngineError: it is a kind of model that cannot be run, or its files are damaged.
    """
    tokenizer, path = _tokenizer(folder), folder.path / folder.weights
    has_data = any("onnx" in name and name != folder.weights for name in folder.hashes)
    session = open_session(path if has_data else folder.read(folder.weights), str(path))
    unknown = {entry.name for entry in session.get_inputs()} - _INPUTS
    if unknown:
        raise EngineError(
            f"The ONNX model {path} asks for {', '.join(sorted(unknown))}.",
            hint="Name the export of a text encoder.",
        )
    outputs = [entry.name for entry in session.get_outputs()]
    output = next((name for name in _POOLED if name in outputs), outputs[0])
    return LocalModel(tokenizer, session, output)


def open_session(model: Path | bytes, name: str) -> Any:
    """Return ONNX Runtime's session of a model.

    Texts are embedded side by side on threads of ours, which is faster here than one text on many
    threads; so each uses one. Nodes stay as they are in the file but for what never changes:
    ONNX Runtime would join sums and normalisations to an operator that is four times slower.

    Raises:
        EngineError: it does not run here.
    """
    options = onnxruntime.SessionOptions()
    options.log_severity_level = _ERRORS_ONLY
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    if isinstance(model, bytes):
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        # Else weights in 4 bits would be made 8-bit numbers for each text, not once.
        options.add_session_config_entry("session.disable_quant_qdq", "1")
    try:
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # one class per status code, without a common one
        raise EngineError(f"{name} is no ONNX model that runs here: {error}") from error


def run_session(
    session: Any, outputs: Sequence[str], inputs: Mapping[str, NDArray[Any]]
) -> list[NDArray[np.float32]]:
    """Return some outputs of a graph; raise an EngineError where it fails."""
    try:
        results = session.run(list(outputs), dict(inputs))
    except Exception as error:  # likewise
        raise EngineError(
            f"The ONNX model failed on a text: {error}",
            hint="Fetch the model again, all files of one version.",
        ) from error
    return [np.asarray(result, dtype=np.float32) for result in results]


def _tokenizer(folder: ModelFolder) -> "tokenizers.Tokenizer":
    try:
        tokenizer = tokenizers.Tokenizer.from_str(folder.read(TOKENIZER).decode("utf-8"))
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
