"""A folder with the files of one model, known by their hashes.

The layout is that of the Hugging Face hub: ``config.json``, ``tokenizer.json`` and either
``model.safetensors`` or an ONNX export, which may lie in ``onnx/``.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from chapterhouse.errors import EngineError, UsageError
from chapterhouse.text.sanitise import sanitise_line

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
            said = json.loads(self.read(name))
        except (ValueError, RecursionError):
            said = None
        if not isinstance(said, dict):
            raise EngineError(f"{self.path / name} is not a JSON object.")
        return said


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
    beside = [f"{weights.removesuffix('.onnx')}{ending}" for ending in _ONNX_DATA]
    names = [name for name in (weights, *_USED, *beside) if (path / name).is_file()]
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
