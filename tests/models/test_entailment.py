"""A cross-encoder that says whether one text follows from another."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chapterhouse import Library
from chapterhouse.errors import EngineError, UsageError
from chapterhouse.models.entailment import FolderEntailment
from chapterhouse.models.model_folder import open_model_folder

Write = Callable[..., None]
LABELS = {"0": "contradiction", "1": "Entailment", "2": "neutral"}


@pytest.fixture
def entailment_folder(
    bert_folder: Path, write_tensors: Write, bert_tensors: Callable[..., dict[str, Any]]
) -> Path:
    """A BERT with three labels, of which the second is always the likeliest."""
    tensors = bert_tensors()
    tensors["classifier.weight"] = np.zeros((3, 8), dtype=np.float32)
    tensors["classifier.bias"] = np.log(np.asarray([1, 8, 1], dtype=np.float32))
    write_tensors(bert_folder / "model.safetensors", tensors)
    labelled(bert_folder, LABELS)
    return bert_folder


def labelled(folder: Path, labels: dict[str, str]) -> None:
    config = json.loads((folder / "config.json").read_text("utf-8"))
    (folder / "config.json").write_text(json.dumps({**config, "id2label": labels}), "utf-8")


def opened(folder: Path) -> FolderEntailment:
    return FolderEntailment(open_model_folder(str(folder), section="entailment"))


def test_the_share_of_the_label_is_the_probability(entailment_folder: Path) -> None:
    model = opened(entailment_folder)
    assert model.probability("the wind", "wind") == pytest.approx(0.8)
    assert model.fingerprint.startswith("folder/tiny-bert/")


def test_a_model_with_one_output_gives_its_logistic(bert_folder: Path) -> None:
    model = opened(bert_folder)
    assert 0 < model.probability("the wind", "wind") < 1


def test_a_graph_is_run_alike(onnx_cross_encoder: Path) -> None:
    assert 0 <= opened(onnx_cross_encoder).probability("the wind", "wind") <= 1


@pytest.mark.parametrize(
    "labels", [{"0": "LABEL_0", "1": "LABEL_1"}, {"0": "entailment", "1": "entails"}]
)
def test_a_model_that_does_not_say_what_its_labels_mean_is_refused(
    bert_folder: Path, labels: dict[str, str]
) -> None:
    labelled(bert_folder, labels)
    with pytest.raises(EngineError, match="no label that means entailment"):
        opened(bert_folder)


def test_a_label_that_denies_is_none_that_follows(entailment_folder: Path) -> None:
    labelled(entailment_folder, {"0": "not_entailment", "1": "entailment"})
    with pytest.raises(EngineError, match="3 numbers, not one for each of 2"):
        opened(entailment_folder).probability("a", "b")


def test_a_library_opens_it_where_the_settings_want_it(
    tmp_path: Path, entailment_folder: Path
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    settings = home / "chapterhouse.toml"
    settings.write_text('[answer]\ncheck = "cross-encoder"\n', "utf-8")
    with pytest.raises(UsageError, match=r"needs entailment\.folder"):
        Library.open(home)
    more = f'[entailment]\nfolder = "{entailment_folder.as_posix()}"\n'
    settings.write_text(settings.read_text("utf-8") + more, "utf-8")
    with Library.open(home) as library:
        assert library._parts().versions["entailment"].startswith("folder/tiny-bert/")
