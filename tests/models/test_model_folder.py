import hashlib
import subprocess
from pathlib import Path

import pytest
from tests.models.conftest import change, open_folder_embedder

from chapterhouse.errors import EngineError, UsageError
from chapterhouse.models.model_folder import open_model_folder


def test_the_checksum_is_what_sha256sum_gives(model_folder: Path) -> None:
    model = open_model_folder(str(model_folder), section="embedding")
    names = ["config.json", "onnx/model.onnx", "tokenizer.json"]
    assert sorted(model.hashes) == names
    lines = "".join(
        f"{hashlib.sha256((model_folder / name).read_bytes()).hexdigest()}  {name}\n"
        for name in names
    )
    assert model.checksum == hashlib.sha256(lines.encode()).hexdigest()
    shell = f"cd '{model_folder}' && sha256sum {' '.join(names)} | sha256sum"
    try:
        done = subprocess.run(["sh", "-c", shell], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no sha256sum here")
    assert done.stdout.split()[0] == model.checksum


def test_a_checksum_is_held_to(model_folder: Path) -> None:
    model = open_model_folder(str(model_folder), section="embedding")
    open_model_folder(str(model_folder), checksum=model.checksum, section="embedding")
    change(model_folder, "tokenizer.json", version="2.0")
    with pytest.raises(EngineError, match=r"embedding\.checksum") as caught:
        open_model_folder(str(model_folder), checksum=model.checksum, section="embedding")
    now = open_model_folder(str(model_folder), section="embedding")
    assert now.checksum in caught.value.message


def test_a_file_changed_meanwhile_is_refused(model_folder: Path) -> None:
    embedder = open_folder_embedder(model_folder)
    change(model_folder, "tokenizer.json", version="2.0")
    with pytest.raises(EngineError, match=r"tokenizer\.json has changed"):
        embedder.embed_passages(["wind"])


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not there") as caught:
        open_model_folder(str(tmp_path / "nowhere"), section="rerank")
    assert "rerank.folder" in caught.value.hint


def test_a_folder_is_a_whole_path(model_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(model_folder.parent)
    with pytest.raises(UsageError, match="not an absolute path"):
        open_model_folder(model_folder.name, section="embedding")
    monkeypatch.setenv("HOME", str(model_folder.parent))
    assert open_model_folder(f"~/{model_folder.name}", section="embedding").hashes


def test_a_name_is_shown_without_what_could_harm_a_terminal(model_folder: Path) -> None:
    change(model_folder, "config.json", _name_or_path="you/evil\x1b[2J" + "x" * 500)
    model = open_model_folder(str(model_folder), section="embedding")
    assert "\x1b" not in model.name
    assert len(model.name) <= 80


def test_the_graph_is_found_or_asked_for(model_folder: Path) -> None:
    (model_folder / "onnx/model.onnx").rename(model_folder / "own.onnx")
    assert open_model_folder(str(model_folder), section="embedding").weights == "own.onnx"
    (model_folder / "other.onnx").write_bytes(b"")
    with pytest.raises(UsageError, match="2 ONNX files") as caught:
        open_model_folder(str(model_folder), section="embedding")
    assert "embedding.file: other.onnx, own.onnx" in caught.value.hint
    named = open_model_folder(str(model_folder), "own.onnx", section="embedding")
    assert named.weights == "own.onnx"
    with pytest.raises(UsageError, match="no third"):
        open_model_folder(str(model_folder), "third.onnx", section="embedding")


@pytest.mark.parametrize("file", ["", "model.safetensors"])
def test_only_onnx_runs_here(model_folder: Path, file: str) -> None:
    (model_folder / "onnx/model.onnx").unlink()
    (model_folder / "model.safetensors").write_bytes(b"weights")
    with pytest.raises(UsageError, match="no ONNX file, and only those run here") as caught:
        open_model_folder(str(model_folder), file, section="embedding")
    assert "embedding.folder" in caught.value.hint


def test_a_tokenizer_is_needed(model_folder: Path) -> None:
    (model_folder / "tokenizer.json").unlink()
    with pytest.raises(UsageError, match=r"no tokenizer\.json"):
        open_model_folder(str(model_folder), section="embedding")
