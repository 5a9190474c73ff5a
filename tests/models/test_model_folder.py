"""Models in folders: which files, and which complaints."""

import hashlib
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chapterhouse.errors import EngineError, UsageError
from chapterhouse.models.embedders import FolderEmbedder
from chapterhouse.models.model_folder import open_model_folder
from chapterhouse.settings import EmbeddingSettings

Write = Callable[..., None]


def open_embedder(folder: Path, **around: Any) -> FolderEmbedder:
    return FolderEmbedder(
        open_model_folder(str(folder), section="embedding"),
        EmbeddingSettings(engine="folder", folder=str(folder), **around),
    )


def change(folder: Path, name: str, **values: Any) -> None:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    known = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps(known | values))


def test_the_checksum_is_what_sha256sum_gives(bert_folder: Path) -> None:
    model = open_model_folder(str(bert_folder), section="embedding")
    names = ["config.json", "model.safetensors", "tokenizer.json"]
    assert sorted(model.hashes) == names
    lines = "".join(
        f"{hashlib.sha256((bert_folder / name).read_bytes()).hexdigest()}  {name}\n"
        for name in names
    )
    assert model.checksum == hashlib.sha256(lines.encode()).hexdigest()
    shell = f"cd '{bert_folder}' && sha256sum {' '.join(names)} | sha256sum"
    try:
        done = subprocess.run(["sh", "-c", shell], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no sha256sum here")
    assert done.stdout.split()[0] == model.checksum


def test_a_checksum_is_held_to(bert_folder: Path) -> None:
    model = open_model_folder(str(bert_folder), section="embedding")
    open_model_folder(str(bert_folder), checksum=model.checksum, section="embedding")
    change(bert_folder, "tokenizer.json", version="2.0")
    with pytest.raises(EngineError, match=r"embedding\.checksum") as caught:
        open_model_folder(str(bert_folder), checksum=model.checksum, section="embedding")
    now = open_model_folder(str(bert_folder), section="embedding")
    assert now.checksum in caught.value.message


def test_a_file_changed_meanwhile_is_refused(bert_folder: Path) -> None:
    embedder = open_embedder(bert_folder)
    change(bert_folder, "tokenizer.json", version="2.0")
    with pytest.raises(EngineError, match=r"tokenizer\.json has changed"):
        embedder.embed_passages(["wind"])


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not there") as caught:
        open_model_folder(str(tmp_path / "nowhere"), section="rerank")
    assert "rerank.folder" in caught.value.hint


def test_a_folder_does_not_depend_on_where_one_stands(
    bert_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(bert_folder.parent)
    with pytest.raises(UsageError, match="not an absolute path"):
        open_model_folder(bert_folder.name, section="embedding")
    monkeypatch.setenv("HOME", str(bert_folder.parent))
    assert open_model_folder(f"~/{bert_folder.name}", section="embedding").hashes


def test_a_name_is_shown_without_what_could_harm_a_terminal(bert_folder: Path) -> None:
    change(bert_folder, "config.json", _name_or_path="you/evil\x1b[2J" + "x" * 500)
    model = open_model_folder(str(bert_folder), section="embedding")
    assert "\x1b" not in model.name
    assert len(model.name) <= 80


def test_weights_are_found_or_asked_for(bert_folder: Path, write_tensors: Write) -> None:
    (bert_folder / "model.safetensors").rename(bert_folder / "own.safetensors")
    assert open_model_folder(str(bert_folder), section="embedding").weights == "own.safetensors"
    write_tensors(bert_folder / "other.safetensors", {"a": np.zeros(1)})
    with pytest.raises(UsageError, match="2 files of weights") as caught:
        open_model_folder(str(bert_folder), section="embedding")
    assert "embedding.file: other.safetensors, own.safetensors" in caught.value.hint
    named = open_model_folder(str(bert_folder), "own.safetensors", section="embedding")
    assert named.weights == "own.safetensors"
    with pytest.raises(UsageError, match="no third"):
        open_model_folder(str(bert_folder), "third", section="embedding")


def test_a_tokenizer_is_needed(bert_folder: Path) -> None:
    (bert_folder / "tokenizer.json").unlink()
    with pytest.raises(UsageError, match=r"no tokenizer\.json"):
        open_model_folder(str(bert_folder), section="embedding")
