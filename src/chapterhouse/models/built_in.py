"""The encoder in the box: a student of multilingual-e5-small, small enough to ship.

Twelve layers of 384 numbers like its teacher's, with 1,024 of its 1,536 inner neurons, what is left
solved for anew by least squares, and all layers trained to give the teacher's states; of English,
those of the teacher and of all-MiniLM-L6-v2 together (``benchmarks/encoder``). The vocabulary is a
quarter of the teacher's. Weights lie in the file as 4-bit numbers in blocks of 32; products are of
8-bit numbers (7 bits used). Files, data and measurements: ``benchmarks/encoder/CARD.md``.
"""

import gzip
import hashlib
import zlib
from collections.abc import Callable, Sequence
from functools import cache, cached_property, lru_cache, partial
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from chapterhouse import lazy
from chapterhouse.errors import CorruptLibraryError
from chapterhouse.models.embedders import apply_each, embed_each, unit_rows
from chapterhouse.models.model_folder import open_session, run_session
from chapterhouse.types import TokenVectors

if TYPE_CHECKING:
    import tokenizers
else:
    tokenizers = lazy("tokenizers")

_GRAPH: Final = (
    "encoder.onnx",
    "e4c7f04868100b11e05545a542cd7ab67d73339166b650c107db379fc0865103",
)
_TOKENIZER: Final = (
    "encoder_tokenizer.json.gz",
    "97acf3709a9053a8248a6735ef508ae35e04dbfaaa352aa41eda9a8f51238732",
)
_LONGEST: Final = 256  # tokens, with the prefix and the marks of beginning and end
_MAXIMUM_CHARACTERS: Final = 20_000  # far above any chunk; bounds the work on a hostile one
_RECENT: Final = 64  # texts whose tokens' vectors are remembered, of at most 0.8 MB each

# What each token means by itself and in its text, shape (tokens, 384) each.
_Meanings = tuple[NDArray[np.float32], NDArray[np.float32]]
_Prefix = tuple[int, ...]
_Result = TypeVar("_Result")

# Texts begin as in training, by the tokens of "query:" and "passage:"; in tokens, not in the text,
# so that offsets stay those of the text.
_PREFIX: Final = 3  # tokens at most
_SPACE: Final = "▁"  # what is a token of its own before Chinese, and says nothing

# Languages in which it finds eight passages of ten, or nine tenths of what its teacher does
# (``CARD.md``); and where the language of a text is not known.
_SERVED: Final = (
    "af ar be bg bn ca cs da de el en eo es et eu fa fi fr ga gd gl gu he hi hr hu is it ja ko la "
    "lt lv mk nl nn no pa pl pt ro ru sk sl sr sv tr uk vi zh"
)
LANGUAGES: Final = frozenset(("", *_SERVED.split()))


class BuiltInEncoder:
    """Unit vectors from the encoder in the box. Loads on first use; safe to share by threads."""

    dimensions = 384

    @property
    def fingerprint(self) -> str:
        """Name and version of the weights."""
        return f"chapterhouse-encoder-2/{_GRAPH[1][:16]}"

    def serves(self, language: str) -> bool:
        """Whether vectors of texts in this language are worth searching."""
        return language in LANGUAGES

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit vector a text, shape (texts, 384); zeros for a text without a character.

        Of a longer text the first 253 tokens count.
        """
        read = partial(self._states, self._read, self._prefixes[1])
        return embed_each(texts, lambda text: read(text)[1], self.dimensions)

    def read_passages(
        self, texts: Sequence[str], use: Callable[[int, TokenVectors], _Result]
    ) -> tuple[NDArray[np.float32], list[_Result]]:
        """Return the vectors of ``embed_passages``, and what ``use`` makes of the same states.

        Args:
            use: Is called with the number of each text and its tokens, in threads.
        """

        def read(number: int) -> tuple[NDArray[np.float32], _Result]:
            tokens, vector = self._states(self._read, self._prefixes[1], texts[number])
            return vector, use(number, tokens)

        made = apply_each(range(len(texts)), read, lambda number: len(texts[number]))
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, (text, (vector, _)) in enumerate(zip(texts, made, strict=True)):
            if text.strip():
                vectors[row] = vector
        return vectors, [result for _, result in made]

    def embed_question(self, text: str) -> NDArray[np.float32]:
        """Return the unit vector of a question, shape (384,)."""
        read = partial(self._states, self._recent, self._prefixes[0])
        vectors = embed_each([text], lambda own: read(own)[1], self.dimensions)
        vector: NDArray[np.float32] = vectors[0]
        return vector

    def embed_passage_tokens(self, texts: Sequence[str]) -> Sequence[TokenVectors]:
        """Return the tokens of each passage with their vectors.

        Of a text with more than 253 tokens each run of 251 is read by itself.
        """
        return apply_each(texts, partial(self._tokens, self._prefixes[1]), len)

    def embed_question_tokens(self, text: str) -> TokenVectors:
        """Return the tokens of a question with their vectors."""
        return self._tokens(self._prefixes[0], text)

    def count_tokens(self, text: str) -> int:
        """Return how many tokens a text has."""
        first = self._tokenizer.encode(text, add_special_tokens=False)
        return sum(token != _SPACE for run in (first, *first.overflowing) for token in run.tokens)

    def _tokens(self, prefix: _Prefix, text: str) -> TokenVectors:
        return self._states(self._recent, prefix, text)[0]

    def _states(
        self, read: Callable[[tuple[int, ...]], _Meanings], prefix: _Prefix, text: str
    ) -> tuple[TokenVectors, NDArray[np.float32]]:
        """Return the tokens of a text with their vectors, and the vector of the text."""
        first = self._tokenizer.encode(text[:_MAXIMUM_CHARACTERS])
        runs = [first, *first.overflowing]
        offsets = np.asarray([pair for run in runs for pair in run.offsets], dtype=np.int64)
        offsets = offsets.reshape(-1, 2)
        own = offsets[:, 0] < offsets[:, 1]  # not the marks of beginning and end
        own &= np.asarray([token != _SPACE for run in runs for token in run.tokens])
        states = [read((run.ids[0], *prefix, *run.ids[1:])) for run in runs]
        words, vectors = (
            np.concatenate(
                [np.delete(states, np.s_[1 : 1 + len(prefix)], axis=0) for states in each]
            )
            for each in zip(*states, strict=True)
        )
        tokens = TokenVectors(offsets[own, 0], offsets[own, 1], vectors[own], words[own])
        return tokens, unit_rows(states[0][1].mean(axis=0)[None])[0]

    def _read(self, tokens: tuple[int, ...]) -> _Meanings:
        words, hidden = run_session(
            self._session, ["words", "hidden"], {"ids": np.asarray(tokens, dtype=np.int64)}
        )
        return words, hidden

    @cached_property
    def _recent(self) -> Callable[[tuple[int, ...]], _Meanings]:
        """Return ``_read`` with a memory: passages come back as a talk goes on."""
        return lru_cache(_RECENT)(self._read)

    @cached_property
    def _tokenizer(self) -> "tokenizers.Tokenizer":
        tokenizer = tokenizers.Tokenizer.from_str(_read_packaged(*_TOKENIZER).decode())
        tokenizer.no_padding()
        tokenizer.enable_truncation(_LONGEST - _PREFIX)
        return tokenizer

    @cached_property
    def _prefixes(self) -> tuple[_Prefix, _Prefix]:
        """The tokens of what questions begin with, and passages."""
        question, passage = (
            tuple(self._tokenizer.encode(text, add_special_tokens=False).ids)
            for text in ("query:", "passage:")
        )
        return question, passage

    @cached_property
    def _session(self) -> Any:
        return open_session(_read_packaged(*_GRAPH), _GRAPH[0])


@cache
def built_in_encoder() -> BuiltInEncoder:
    """Return the one encoder of this process: its weights are read once."""
    return BuiltInEncoder()


def _read_packaged(name: str, sha256: str) -> bytes:
    """Return the content of a file of this package, unpacked, as it was measured.

    Raises:
        CorruptLibraryError: it is another.
    """
    data = files("chapterhouse.models").joinpath(name).read_bytes()
    if name.endswith(".gz"):
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error):  # then it is not what was measured
            data = b""
    if hashlib.sha256(data).hexdigest() != sha256:
        raise CorruptLibraryError(
            f"{name} of Chapterhouse is not the file that was measured.",
            hint="Install Chapterhouse again.",
        )
    return data
