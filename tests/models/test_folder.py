"""Models in folders: which files, which numbers, which complaints."""

import hashlib
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chapterhouse.errors import EngineError, UsageError
from chapterhouse.models.cross_encoder import FolderReranker, logistic
from chapterhouse.models.folder_embedder import FolderEmbedder, FolderTreatment
from chapterhouse.models.model_folder import open_model_folder

Write = Callable[..., None]


def open_embedder(folder: Path, **around: Any) -> FolderEmbedder:
    return FolderEmbedder(
        open_model_folder(str(folder), section="embedding"), FolderTreatment(**around)
    )


def change(folder: Path, name: str, **values: Any) -> None:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    known = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps(known | values))


# --- the folder ----------------------------------------------------------------------------------


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


# --- embedding -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["config.json", "1_Pooling/config.json"])
def test_settings_that_are_not_an_object_are_told(bert_folder: Path, name: str) -> None:
    change(bert_folder, name)
    (bert_folder / name).write_text("[1]")
    with pytest.raises(EngineError, match="not a JSON object"):
        _ = open_embedder(bert_folder).fingerprint


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json"])
def test_damaged_files_are_told(bert_folder: Path, name: str) -> None:
    (bert_folder / name).write_bytes((bert_folder / name).read_bytes()[:40])
    with pytest.raises(EngineError, match=name.replace(".", r"\.")):
        open_embedder(bert_folder).embed_passages(["wind"])


def test_a_damaged_graph_is_told(onnx_folder: Path) -> None:
    (onnx_folder / "onnx" / "model.onnx").write_bytes(b"\x08\x01nonsense")
    with pytest.raises(EngineError, match="no ONNX model"):
        open_embedder(onnx_folder).embed_passages(["wind"])


def test_a_graph_that_asks_for_more_is_told(onnx_folder: Path, write_onnx: Write) -> None:
    path = onnx_folder / "onnx" / "model.onnx"
    write_onnx(path, "last_hidden_state", ["batch", "tokens", 8], ["input_ids", "pixel_values"])
    with pytest.raises(EngineError, match="asks for pixel_values"):
        open_embedder(onnx_folder).embed_passages(["wind"])


def test_files_of_different_models_are_told(bert_folder: Path, write_tensors: Write) -> None:
    tensors = {"embeddings": np.ones((2, 8), dtype=np.float32)}
    write_tensors(bert_folder / "model.safetensors", tensors)
    with pytest.raises(EngineError, match="do not belong together"):
        open_embedder(bert_folder).embed_passages(["harbour"])


def test_another_kind_of_model_is_told(bert_folder: Path) -> None:
    change(bert_folder, "config.json", model_type="deberta-v2")
    with pytest.raises(EngineError, match="'deberta-v2'") as caught:
        open_embedder(bert_folder).embed_passages(["wind"])
    assert "ONNX" in caught.value.hint
    change(bert_folder, "config.json", model_type="bert", hidden_act="silu")
    with pytest.raises(EngineError, match="'silu'"):
        open_embedder(bert_folder).embed_passages(["wind"])


def test_the_folder_says_how_to_pool(bert_folder: Path) -> None:
    mean = open_embedder(bert_folder)
    assert "/mean/" in mean.fingerprint
    change(bert_folder, "1_Pooling/config.json", pooling_mode_cls_token=True)
    first = open_embedder(bert_folder)
    assert "/cls/" in first.fingerprint
    stated = open_embedder(bert_folder, pooling="last")
    vectors = [one.embed_question("the wind") for one in (mean, first, stated)]
    assert not np.allclose(vectors[0], vectors[1])
    assert not np.allclose(vectors[1], vectors[2])
    change(bert_folder, "1_Pooling/config.json", pooling_mode_max_tokens=True)
    with pytest.raises(UsageError, match="pooling"):
        open_embedder(bert_folder)


def test_a_layer_after_the_pooling_is_refused(bert_folder: Path) -> None:
    kinds = ["Transformer", "Pooling", "Dense"]
    modules = [{"type": f"sentence_transformers.models.{kind}"} for kind in kinds]
    (bert_folder / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(UsageError, match="Dense"):
        open_embedder(bert_folder)
    (bert_folder / "modules.json").write_text(json.dumps(modules[:2]))
    open_embedder(bert_folder)


def test_vectors_may_be_cut_where_that_is_asked_for(bert_folder: Path) -> None:
    whole = open_embedder(bert_folder).embed_question("the wind")
    cut = open_embedder(bert_folder, dimensions=5, shorten=True)
    wanted = whole[:5] / np.linalg.norm(whole[:5])
    assert np.allclose(cut.embed_question("the wind"), wanted, atol=1e-6)
    assert cut.fingerprint.endswith("5-cut")
    with pytest.raises(EngineError, match="vectors of 8 numbers, not 5"):
        open_embedder(bert_folder, dimensions=5).embed_question("the wind")
    with pytest.raises(EngineError, match="vectors of 8 numbers, not 9"):
        open_embedder(bert_folder, dimensions=9, shorten=True).embed_question("the wind")


def test_prefixes_belong_to_the_fingerprint(bert_folder: Path) -> None:
    plain, prefixed = open_embedder(bert_folder), open_embedder(bert_folder, passage_prefix="at ")
    assert plain.fingerprint != prefixed.fingerprint
    assert np.array_equal(
        prefixed.embed_passages(["wind"])[0], plain.embed_passages(["at wind"])[0]
    )
    assert np.array_equal(prefixed.embed_question("wind"), plain.embed_question("wind"))


def test_long_texts_are_cut_where_the_model_ends(bert_folder: Path) -> None:
    embedder = open_embedder(bert_folder)
    long = embedder.embed_question("wind " * 21 + "at " * 50)
    assert np.array_equal(long, embedder.embed_question("wind " * 21 + "at"))
    change(bert_folder, "sentence_bert_config.json", max_seq_length=4)
    short = open_embedder(bert_folder).embed_question("the wind at harbour")
    assert np.array_equal(short, embedder.embed_question("the wind"))


def test_a_table_is_the_mean_of_its_tokens(table_folder: Path, write_tensors: Write) -> None:
    numbers = np.eye(10, 8, dtype=np.float32)
    write_tensors(table_folder / "model.safetensors", {"embedding.weight": numbers})
    embedder = open_embedder(table_folder)
    assert embedder.dimensions == 8
    vector = embedder.embed_question("ferry unheard-of harbour ferry")
    wanted = np.asarray([0, 0, 0, 0, 2, 1, 0, 0]) / np.sqrt(5)
    assert np.allclose(vector, wanted, atol=1e-6)
    assert not embedder.embed_question("unheard-of").any()


def test_a_table_may_weigh_its_tokens_and_share_its_rows(
    table_folder: Path, write_tensors: Write
) -> None:
    tensors = {
        "embeddings": np.eye(2, 8, dtype=np.float32),
        "weights": np.asarray([1] * 4 + [3, 4] + [1] * 4, dtype=np.float64),
        "mapping": np.asarray([0] * 5 + [1] * 5, dtype=np.int32),
    }
    write_tensors(table_folder / "model.safetensors", tensors)
    vector = open_embedder(table_folder).embed_question("ferry harbour")
    assert np.allclose(vector[:2], [0.6, 0.8], atol=1e-6)


def test_a_graph_may_pool_by_itself(onnx_folder: Path, write_onnx: Write) -> None:
    path = onnx_folder / "onnx" / "model.onnx"
    pooled = open_embedder(onnx_folder).embed_question("the wind")
    write_onnx(path, "logits", ["batch", 1])
    scored = open_embedder(onnx_folder, dimensions=1).embed_question("the wind")
    assert pooled.shape == (8,)
    assert scored.shape == (1,)


# --- reranking -----------------------------------------------------------------------------------


def test_a_model_without_a_classifier_is_no_cross_encoder(
    bert_folder: Path, write_tensors: Write, bert_tensors: Callable[..., dict[str, Any]]
) -> None:
    tensors = bert_tensors()
    del tensors["classifier.weight"]
    write_tensors(bert_folder / "model.safetensors", tensors)
    reranker = FolderReranker(open_model_folder(str(bert_folder), section="rerank"), 1_000)
    with pytest.raises(EngineError, match="no cross-encoder"):
        reranker.score("wind", ["the wind"])


def test_a_model_with_several_labels_gives_no_score(
    bert_folder: Path, write_tensors: Write, bert_tensors: Callable[..., dict[str, Any]]
) -> None:
    tensors = bert_tensors()
    tensors["classifier.weight"] = np.ones((3, 8), dtype=np.float32)
    tensors["classifier.bias"] = np.ones(3, dtype=np.float32)
    write_tensors(bert_folder / "model.safetensors", tensors)
    reranker = FolderReranker(open_model_folder(str(bert_folder), section="rerank"), 1_000)
    with pytest.raises(EngineError, match="3 numbers"):
        reranker.score("wind", ["the wind"])


def test_scores_keep_their_order_to_the_ends() -> None:
    values = [-700.0, -20.0, -1.0, 0.0, 1.0, 20.0]
    scores = [logistic(value) for value in values]
    assert scores == sorted(scores)
    assert scores[3] == 0.5
    assert 0 <= scores[0] < scores[2] < scores[4] <= 1
