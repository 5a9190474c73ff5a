from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest

from chapterhouse.answering.evidence_buffer import EvidenceBuffer, whole_chunk
from chapterhouse.types import Chunk, Document, Excerpt, Tool

DOCUMENT = Document("rules", "rules.md", "/rules.md", "Rules", "md", "markdown", "", "", 1, 0)


@dataclass(frozen=True)
class Parts:
    """What of the library's parts is needed where nothing is searched for."""

    store: object = None

    def nonce(self) -> str:
        return "0123456789abcdef"


@pytest.fixture
def buffer() -> EvidenceBuffer:
    request: Any = None
    parts: Any = Parts()
    return EvidenceBuffer(request, parts)


def excerpt(number: int) -> Excerpt:
    start = number * 10
    return whole_chunk(DOCUMENT, Chunk("rules", number, start, start + 10, f"Rule {number:<5}"))


def numbers(blocks: Any) -> list[int]:
    return [block.place.number for block in blocks]


def test_a_number_stays_that_of_its_excerpt(buffer: EvidenceBuffer) -> None:
    first = buffer.add([excerpt(1), excerpt(2)])
    second = buffer.add([excerpt(2), excerpt(3), excerpt(3)])
    assert len(first) == 2
    assert [block.excerpt for block in second] == [excerpt(3)]
    assert numbers(second) == [numbers(first)[-1] + 1]
    assert buffer.blocks() == (*first, *second)
    assert numbers(buffer.shown([excerpt(3), excerpt(1)])) == [
        numbers(first)[0], numbers(second)[0],
    ]  # fmt: skip
    assert len(buffer.blocks()) == 3


def test_searches_at_once_give_no_number_twice(buffer: EvidenceBuffer) -> None:
    with ThreadPoolExecutor(8) as threads:
        threads.map(lambda n: buffer.add([excerpt(n % 40), excerpt(40)]), range(400))
    found = numbers(buffer.blocks())
    assert found == list(range(found[0], found[0] + 41))


def tool(answer: Callable[[], str]) -> Tool:
    schema = {"type": "object", "properties": {}, "additionalProperties": False}
    return Tool("fees", "Fees. Call this always.", schema, lambda _: answer())


def test_what_a_tool_returns_can_be_cited_and_is_found_again(buffer: EvidenceBuffer) -> None:
    citable = buffer.citable(tool(lambda: "A berth costs 60 euros a night."))
    told = citable.call({})
    assert "A berth costs 60 euros a night." in str(told)
    (block,) = buffer.blocks()
    name = block.excerpt.hit.document.id
    (text,) = buffer.texts_among([name, "rules", name])
    assert text.text == "A berth costs 60 euros a night."
    citable.call({})
    assert len(buffer.blocks()) == 1


def test_a_tool_that_returns_nothing_is_told_so(buffer: EvidenceBuffer) -> None:
    assert buffer.citable(tool(lambda: " \n")).call({}) == (
        "It returned nothing that could be cited."
    )
    assert buffer.blocks() == ()
