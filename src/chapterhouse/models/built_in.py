"""The encoder in the box: a student of all-MiniLM-L6-v2, small enough to ship.

Six layers of 384 numbers like its teacher's, with 768 instead of 1,536 inner neurons: the most
active half of the teacher's, their output weights solved for anew by least squares, and all layers
trained to give the teacher's hidden states and vectors (``benchmarks/encoder``). The layers have
8-bit weights (7 bits used), the vocabulary's table 4-bit numbers in groups of 64. Files, data and
measurements: ``benchmarks/encoder/CARD.md``.
"""

from collections.abc import Callable, Sequence
from functools import cache, cached_property, lru_cache, partial
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from chapterhouse.loading import lazy
from chapterhouse.models.bert import Floats, Layer, Linear, Norm, Shape, encoder_graph
from chapterhouse.models.embedders import apply_each, embed_each, unit_rows
from chapterhouse.models.onnx import Run, open_session
from chapterhouse.models.static import read_packaged
from chapterhouse.types import TokenVectors

if TYPE_CHECKING:
    import safetensors.numpy as safetensors_numpy
    import tokenizers
else:
    safetensors_numpy = lazy("safetensors.numpy")
    tokenizers = lazy("tokenizers")

_WEIGHTS: Final = (
    "encoder.safetensors",
    "59686bb9f3fa6f3176ab5c9f457377c821cbf2e7eb2d1930c85af37c662e8350",
)
_TOKENIZER: Final = (
    "encoder_tokenizer.json.gz",
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)
_LAYERS: Final = 6
_HEADS: Final = 12
_LONGEST: Final = 256  # tokens, as its teacher was trained
_MAXIMUM_CHARACTERS: Final = 20_000  # far above any chunk; bounds the work on a hostile one
_GROUP: Final = 64  # numbers of the table that share a scale
_RECENT: Final = 64  # texts of questions whose vectors are kept, of at most 0.4 MB each

# English, as its teacher; of the other languages measured, those that gain (fusion: cards.json).
LANGUAGES: Final = frozenset({"en", "de", "fr", ""})


class BuiltInEncoder:
    """Unit vectors from the encoder in the box. Loads on first use; safe to share by threads."""

    dimensions = 384

    @property
    def fingerprint(self) -> str:
        """Name and version of the weights."""
        return f"chapterhouse-encoder-1/{_WEIGHTS[1][:16]}"

    def serves(self, language: str) -> bool:
        """Whether vectors of texts in this language are worth searching."""
        return language in LANGUAGES

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit vector a text, shape (texts, 384); zeros for a text without a character.

        Of a longer text the first 256 tokens count.
        """
        return embed_each(texts, partial(self._vector, self._hidden), self.dimensions)

    def embed_question(self, text: str) -> NDArray[np.float32]:
        """Return the unit vector of a question, shape (384,)."""
        vector: NDArray[np.float32] = embed_each(
            [text], partial(self._vector, self._recent), self.dimensions
        )[0]
        return vector

    def embed_tokens(self, texts: Sequence[str]) -> Sequence[TokenVectors]:
        """Return the tokens of each text with their vectors.

        Of a text with more than 256 tokens each run of 254 is read by itself.
        """
        return apply_each(texts, self._tokens)

    def _vector(self, read: Callable[[tuple[int, ...]], Floats], text: str) -> Floats:
        hidden = read(tuple(self._tokenizer.encode(text[:_MAXIMUM_CHARACTERS]).ids))
        vector: Floats = unit_rows(hidden.mean(axis=0)[None])[0]
        return vector

    def _tokens(self, text: str) -> TokenVectors:
        first = self._tokenizer.encode(text[:_MAXIMUM_CHARACTERS])
        runs = [first, *first.overflowing]
        offsets = np.asarray([pair for run in runs for pair in run.offsets], dtype=np.int64)
        offsets = offsets.reshape(-1, 2)
        own = offsets[:, 0] < offsets[:, 1]  # not the marks of beginning and end
        return TokenVectors(
            starts=offsets[own, 0],
            ends=offsets[own, 1],
            vectors=np.concatenate([self._recent(tuple(run.ids)) for run in runs])[own],
            words=np.concatenate([self._words(run.ids) for run in runs])[own],
        )

    def _hidden(self, tokens: tuple[int, ...]) -> Floats:
        """Return what each token means in its text."""
        _, positions, run = self._model
        return run({"embeddings": (self._words(tokens) + positions[: len(tokens)])[None]})

    def _words(self, tokens: Sequence[int]) -> Floats:
        """Return what each token means by itself."""
        words, _, _ = self._model
        return words(np.asarray(tokens, dtype=np.intp))

    @cached_property
    def _recent(self) -> Callable[[tuple[int, ...]], Floats]:
        """Return ``_hidden`` with a memory: passages come back as a talk goes on."""
        return lru_cache(_RECENT)(self._hidden)

    @cached_property
    def _tokenizer(self) -> "tokenizers.Tokenizer":
        tokenizer = tokenizers.Tokenizer.from_str(read_packaged(*_TOKENIZER).decode())
        tokenizer.no_padding()
        tokenizer.enable_truncation(_LONGEST)
        return tokenizer

    @cached_property
    def _model(self) -> tuple[Callable[[NDArray[np.intp]], Floats], Floats, Run]:
        """Return what looks up rows of the table, the positions' rows, and what runs the layers."""
        tensors = safetensors_numpy.load(read_packaged(*_WEIGHTS))
        layers = [_layer(tensors, number) for number in range(_LAYERS)]
        graph = encoder_graph(_norm(tensors, "norm"), layers, Shape(_HEADS))
        codes, scales = tensors["words"], tensors["word_scales"]
        positions = tensors["positions"].astype(np.float32)
        return lambda ids: unpack_table(codes[ids], scales[ids]), positions, open_session(graph)


@cache
def built_in_encoder() -> BuiltInEncoder:
    """Return the one encoder of this process: its weights are read once."""
    return BuiltInEncoder()


def pack_table(table: Floats) -> tuple[NDArray[np.uint8], NDArray[np.float16]]:
    """Return a table in 4-bit numbers of -7 to 7, two a byte, and the scale of each group of 64.

    Args:
        table: Shape (rows, a multiple of 64).
    """
    rows, size = table.shape
    groups = table.reshape(rows, size // _GROUP, _GROUP)
    scales = (np.abs(groups).max(axis=-1) / 7).astype(np.float16)
    steps = np.where(scales > 0, scales, 1).astype(np.float32)[..., None]
    codes = (np.clip(np.rint(groups / steps), -7, 7) + 8).astype(np.uint8).reshape(rows, size)
    return codes[:, 0::2] | codes[:, 1::2] << 4, scales


def unpack_table(codes: NDArray[np.uint8], scales: NDArray[np.float16]) -> Floats:
    """Return rows of a table that ``pack_table`` made, shape (rows, numbers)."""
    rows = len(codes)
    numbers = np.stack([codes & 0xF, codes >> 4], axis=-1).reshape(rows, -1, _GROUP)
    values = (numbers.astype(np.float32) - 8) * scales.astype(np.float32)[..., None]
    return values.reshape(rows, -1)


def _layer(tensors: dict[str, NDArray[np.generic]], number: int) -> Layer:
    name = f"layers.{number}"
    return Layer(
        query_key_value=_linear(tensors, f"{name}.query_key_value"),
        attention_output=_linear(tensors, f"{name}.attention_output"),
        attention_norm=_norm(tensors, f"{name}.attention_norm"),
        inner=_linear(tensors, f"{name}.inner"),
        output=_linear(tensors, f"{name}.output"),
        output_norm=_norm(tensors, f"{name}.output_norm"),
    )


def _linear(tensors: dict[str, NDArray[np.generic]], name: str) -> Linear:
    return Linear(
        tensors[f"{name}.weights"].astype(np.int8),
        tensors[f"{name}.bias"].astype(np.float32),
        tensors[f"{name}.scale"].astype(np.float32),
    )


def _norm(tensors: dict[str, NDArray[np.generic]], name: str) -> Norm:
    return Norm(
        tensors[f"{name}.weight"].astype(np.float32), tensors[f"{name}.bias"].astype(np.float32)
    )
