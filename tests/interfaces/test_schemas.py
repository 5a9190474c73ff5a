"""What clients may say to the tools: within limits, and nothing that no tool knows."""

import pytest
from pydantic import BaseModel, ValidationError

from chapterhouse.interfaces.schemas import (
    AskArguments,
    ConveneArguments,
    FetchArguments,
    KnowledgeArguments,
    NoArguments,
    PassagesArguments,
    SearchArguments,
)


@pytest.mark.parametrize(
    ("kind", "most", "too_much"),
    [
        (SearchArguments, {"query": "q" * 1_000}, {"query": "q" * 1_001}),
        (AskArguments, {"question": "q" * 10_000}, {"question": "q" * 10_001}),
        (PassagesArguments, {"query": "q", "limit": 20}, {"query": "q", "limit": 21}),
        (PassagesArguments, {"query": "q", "limit": 1}, {"query": "q", "limit": 0}),
        (
            PassagesArguments,
            {"query": "q", "shelves": ["a"] * 50},
            {"query": "q", "shelves": ["a"] * 51},
        ),
        (
            KnowledgeArguments,
            {"query": "q", "min_similarity": 1},
            {"query": "q", "min_similarity": 1.01},
        ),
        (FetchArguments, {"id": "d", "offset": 0}, {"id": "d", "offset": -1}),
        (FetchArguments, {"id": "d" * 500}, {"id": ""}),
        (ConveneArguments, {"council": "c", "question": "q"}, {"council": "", "question": "q"}),
        (NoArguments, {}, {"shelf": "mia"}),
    ],
)
def test_arguments_are_bounded(
    kind: type[BaseModel], most: dict[str, object], too_much: dict[str, object]
) -> None:
    kind.model_validate(most)
    with pytest.raises(ValidationError):
        kind.model_validate(too_much)
