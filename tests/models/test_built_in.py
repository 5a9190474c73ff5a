import threading

import numpy as np
import pytest

from chapterhouse.errors import CorruptLibraryError
from chapterhouse.models import built_in
from chapterhouse.models.built_in import BuiltInEncoder

TEXTS = (
    "How long may I keep the laptop after my last day?",
    "Equipment must be returned within two weeks of leaving the company.",
    "The harbour office sells fishing permits from May to October.",
)


@pytest.fixture(scope="module")
def encoder() -> BuiltInEncoder:
    return BuiltInEncoder()


def test_meaning_counts_where_no_word_is_shared(encoder: BuiltInEncoder) -> None:
    question, answer, other = encoder.embed_passages(TEXTS)
    assert question @ answer > 0.3 > question @ other


def test_numbers_are_those_that_were_measured(encoder: BuiltInEncoder) -> None:
    """A product of 8-bit numbers is exact, so that processors differ by rounding alone."""
    vector = encoder.embed_question(TEXTS[0])
    assert np.allclose(vector[:5], MEASURED, atol=0.005)


def test_threads_may_share_it(encoder: BuiltInEncoder) -> None:
    found: list[bytes] = []
    threads = [
        threading.Thread(target=lambda: found.append(encoder.embed_passages(TEXTS).tobytes()))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1


def test_what_is_too_long_is_cut(encoder: BuiltInEncoder) -> None:
    long = " ".join(["berth"] * 400)
    assert np.array_equal(encoder.embed_question(long), encoder.embed_question(f"{long} fee"))


LONG = "The office sells fishing permits. " * 120 + "Guests pay 40 euros a night."


@pytest.mark.parametrize("text", [*TEXTS, LONG, "停泊费是四十欧元。", "a\u200bb", "É tout près."])
def test_tokens_lie_in_their_text_one_behind_the_other(encoder: BuiltInEncoder, text: str) -> None:
    (found,) = encoder.embed_passage_tokens([text])
    assert len(found.starts) == len(found.ends) == len(found.vectors) == len(found.words) > 0
    assert found.vectors.shape[1] == found.words.shape[1] == 384
    assert (found.starts < found.ends).all()
    assert (found.ends[:-1] <= found.starts[1:]).all()
    assert found.starts[0] >= 0
    assert found.ends[-1] <= len(text)
    assert np.isfinite(found.vectors).all()


def test_all_tokens_of_a_long_text_are_there(encoder: BuiltInEncoder) -> None:
    long, end = encoder.embed_passage_tokens([LONG, "Guests pay 40 euros a night."])
    assert len(long.starts) > 512
    assert long.ends[-1] == len(LONG)
    own = long.ends > LONG.index("Guests")
    assert np.array_equal(long.words[own], end.words)
    nearest = (long.vectors @ end.vectors.mean(axis=0)).argmax()
    assert own[nearest]


def test_one_run_gives_the_vectors_and_the_tokens_of_passages(encoder: BuiltInEncoder) -> None:
    texts = [*TEXTS, "", LONG]
    vectors, made = encoder.read_passages(texts, lambda number, tokens: (number, tokens))
    assert np.array_equal(vectors, encoder.embed_passages(texts))
    assert [number for number, _ in made] == list(range(len(texts)))
    for (_, one), other in zip(made, encoder.embed_passage_tokens(texts), strict=True):
        assert np.array_equal(one.starts, other.starts)
        assert np.array_equal(one.vectors, other.vectors)
    tokens = made[0][1]
    behind = tokens.behind(int(tokens.starts[1]))
    assert behind.starts[0] == 0
    assert np.array_equal(behind.words, tokens.words[1:])


@pytest.mark.parametrize("text", ["", "  \n"])
def test_nothing_has_no_tokens(encoder: BuiltInEncoder, text: str) -> None:
    (passage,) = encoder.embed_passage_tokens([text])
    for found in (passage, encoder.embed_question_tokens(text)):
        assert found.vectors.shape == found.words.shape == (0, 384)
    assert encoder.count_tokens(text) == 0
    assert encoder.embed_passage_tokens([]) == []


def test_what_a_token_means_by_itself_is_the_same_anywhere(encoder: BuiltInEncoder) -> None:
    one, other = encoder.embed_passage_tokens(["permits are sold", "sold are permits"])
    own, moved = one.ends <= len("permits"), other.ends > len("sold are")
    assert np.array_equal(one.words[own], other.words[moved])
    assert not np.array_equal(one.vectors[own], other.vectors[moved])


def test_other_files_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(built_in, "_GRAPH", ("encoder.onnx", "0" * 64))
    with pytest.raises(CorruptLibraryError, match="not the file that was measured"):
        BuiltInEncoder().embed_question("anything")


MEASURED = (-0.01, 0.0436, 0.1102, -0.0072, -0.0092)
