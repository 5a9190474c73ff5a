"""The fingerprint of what cuts a document: another one where other chunks would come of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.chunking.fingerprint import cut_by, formats_of
from chapterhouse.settings import ChunkingSettings

MARKDOWN = ("md", "markdown")
BEFORE = ChunkingSettings()


@pytest.mark.parametrize(
    "changed",
    [
        ChunkingSettings(strategy="topic"),
        ChunkingSettings(target=500),
        ChunkingSettings(minimum=50),
        ChunkingSettings(maximum=1_200),
        ChunkingSettings(by_format={".MD": "fixed"}),
        ChunkingSettings(by_format={"markdown": "sentence"}),
    ],
)
def test_what_changes_the_chunks_changes_it(changed: ChunkingSettings) -> None:
    assert cut_by(MARKDOWN, changed) != cut_by(MARKDOWN, BEFORE)


@pytest.mark.parametrize(
    "changed",
    [
        ChunkingSettings(overlap=10),  # for "fixed" alone
        ChunkingSettings(by_format={"pdf": "fixed"}),
    ],
)
def test_what_is_of_other_documents_does_not(changed: ChunkingSettings) -> None:
    assert cut_by(MARKDOWN, changed) == cut_by(MARKDOWN, BEFORE)


def test_it_is_named_by_the_strategy_and_stays_the_same() -> None:
    # Another value here means that every library is cut again: raise VERSION on purpose only.
    assert cut_by(MARKDOWN, BEFORE) == "hierarchical-cef3ce4e6f"


@given(st.text(alphabet="ab./", min_size=1), st.sampled_from(["md", "pdf"]))
def test_a_source_is_called_as_its_last_part(source: str, kind: str) -> None:
    # The store gives what follows the last dot, or all of a source without one.
    assert formats_of(source, kind) == formats_of(source.rpartition(".")[2], kind)


def test_the_extension_comes_first() -> None:
    assert formats_of("notes/Plan.TXT", "text") == ("txt", "text")
    assert formats_of("notes.d/plan", "text") == ("plan", "text")
