import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.errors import CorruptLibraryError
from chapterhouse.models import static
from chapterhouse.models.static import StaticEmbedder

EMBEDDER = StaticEmbedder()


@given(st.lists(st.text(max_size=80), max_size=5))
def test_every_text_has_a_unit_vector_or_none(texts: list[str]) -> None:
    vectors = EMBEDDER.embed_passages(texts)
    assert vectors.shape == (len(texts), EMBEDDER.dimensions)
    assert vectors.dtype == np.float32
    for length in np.linalg.norm(vectors, axis=1):
        assert length == 0 or abs(length - 1) < 1e-5


def test_near_meanings_are_nearer_and_case_does_not_matter() -> None:
    question = EMBEDDER.embed_question("When does the boat leave?")
    near, far = EMBEDDER.embed_passages(
        ["Departure times of the ferry", "The recipe needs three eggs and flour"]
    )
    assert question @ near > question @ far + 0.1
    one, other = EMBEDDER.embed_passages(["THE HARBOUR GATE", "the harbour gate"])
    assert np.array_equal(one, other)


def test_tokens_are_those_that_stored_vectors_were_made_of() -> None:
    assert EMBEDDER.count_tokens("Hello world") == 2
    assert EMBEDDER.count_tokens("") == 0
    ids = EMBEDDER._tokenizer.encode("harbour gate, 港口", add_special_tokens=False).ids
    assert ids == [4023, 6526, 12417, 29892, 29871, 31449, 30856]


@pytest.mark.parametrize("name", ["_WEIGHTS", "_TOKENIZER"])
def test_a_changed_file_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(static, name, (getattr(static, name)[0], "0" * 64))
    with pytest.raises(CorruptLibraryError, match="not the file") as caught:
        StaticEmbedder().embed_passages(["text"])
    with pytest.raises(CorruptLibraryError, match="not the file"):
        StaticEmbedder().embed_question("text")
    assert "Install Chapterhouse again" in caught.value.hint
