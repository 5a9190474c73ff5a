"""The tokenizer of teacher and student: unigram, as XLM-RoBERTa's."""

import gzip
import json
from collections.abc import Sequence

from tokenizers import Tokenizer

QUESTION, PASSAGE = "query: ", "passage: "  # what texts begin with
SPECIAL = 4  # the first pieces: <s> <pad> </s> <unk>
SPACE = "▁"
# What NFKC leaves of the normalization of XLM-RoBERTa: control characters go, others are spaces.
_GONE = r"[\x{00}-\x{08}\x{0B}\x{0E}-\x{1F}\x{7F}\x{8F}\x{9F}]"
_BLANK = r"[\s\x{200B}\x{200E}\x{200F}\x{2028}\x{2029}\x{2581}\x{FEFF}\x{FFFD}]+"


def tokenizer_of(pieces: Sequence[tuple[str, float]]) -> Tokenizer:
    """Return the tokenizer of these pieces, the special ones first."""
    return Tokenizer.from_str(json.dumps(description(pieces), ensure_ascii=False))


def description(pieces: Sequence[tuple[str, float]]) -> dict[str, object]:
    """Return the content of ``tokenizer.json``."""
    special = [name for name, _ in pieces[:SPECIAL]]
    begin, end = special[0], special[2]
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {
                "id": number, "content": name, "single_word": False, "lstrip": False,
                "rstrip": False, "normalized": False, "special": True,
            }
            for number, name in enumerate(special)
        ],
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                {"type": "Replace", "pattern": {"Regex": _GONE}, "content": ""},
                {"type": "NFKC"},
                {"type": "Replace", "pattern": {"Regex": _BLANK}, "content": " "},
            ],
        },
        "pre_tokenizer": {
            "type": "Metaspace", "replacement": SPACE, "prepend_scheme": "always", "split": True,
        },
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [
                {"SpecialToken": {"id": begin, "type_id": 0}},
                {"Sequence": {"id": "A", "type_id": 0}},
                {"SpecialToken": {"id": end, "type_id": 0}},
            ],
            "pair": [
                {"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}},
            ],
            "special_tokens": {
                name: {"id": name, "ids": [special.index(name)], "tokens": [name]}
                for name in (begin, end)
            },
        },
        "decoder": {"type": "Metaspace", "replacement": SPACE, "prepend_scheme": "always"},
        "model": {
            "type": "Unigram", "unk_id": 3, "byte_fallback": False,
            "vocab": [[piece, round(score, 3)] for piece, score in pieces],
        },
    }  # fmt: skip


def packed(pieces: Sequence[tuple[str, float]]) -> bytes:
    """Return ``tokenizer.json``, compressed."""
    content = json.dumps(description(pieces), ensure_ascii=False, separators=(",", ":"))
    return gzip.compress(content.encode(), mtime=0)
