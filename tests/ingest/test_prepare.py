"""From what a reader extracted to a document that is ready to be stored."""

import hashlib
from pathlib import Path
from typing import Any

import pytest

from chapterhouse.chunking.sentence import chunk_by_sentence
from chapterhouse.connectors.content import Content
from chapterhouse.connectors.folder import SourceFile
from chapterhouse.errors import RejectedError
from chapterhouse.ingest.prepare import Cutter, Prepared, prepare
from chapterhouse.text.counting import estimate_tokens
from chapterhouse.types import ExtractedPage, Extraction, Notice, Status

FILE = SourceFile(Path("/docs"), ("fees.md",), "/docs/fees.md", "docs/fees.md")
TEXT = (
    "# Fees\n\nA berth costs 80 euros a metre. "
    "Guests who stay for the whole of the winter pay less than those who come in summer.\n"
)


def prepared(text: str = TEXT, embedder: Any = None, **more: Any) -> Prepared:
    data = text.encode("utf-8", "surrogatepass")
    content = Content(data, hashlib.sha256(data).hexdigest(), len(data), 1, 1)
    values = {"format": "markdown", "method": "test 1"} | more
    extraction = Extraction((ExtractedPage(text),), **values)
    cutter = Cutter(chunk_by_sentence, estimate_tokens)
    return prepare(extraction, FILE, content, cutter=cutter, embedder=embedder)


def test_the_parts_of_a_document_fit_each_other() -> None:
    made = prepared()
    document, text = made.document, made.body.text
    assert document.text_sha256 == hashlib.sha256(text.encode()).hexdigest()
    assert (document.characters, document.chunks) == (len(text), len(made.chunks))
    assert all(text[one.start : one.end] == one.text for one in made.chunks)
    assert (document.title, document.language) == ("Fees", "en")
    assert document.status is Status.READY
    assert (made.vectors, made.fingerprint) == (None, "")


def test_notices_and_metadata_are_as_harmless_as_the_text() -> None:
    made = prepared(
        notices=(Notice("pages-missing", "Half\u202e of\nit.", 2),),
        metadata={"author\u200b": "Ada\n\u202eLovelace", "empty": "\u200b"},
    )
    assert made.document.notices[0] == Notice("pages-missing", "Half of it.", 2)
    assert made.document.metadata["author"] == "Ada Lovelace"
    assert "empty" not in made.document.metadata


def test_front_matter_goes_before_what_the_file_says() -> None:
    made = prepared(f"---\nauthor: Maria\n---\n{TEXT}", metadata={"author": "Ada"})
    assert made.document.metadata["author"] == "Maria"


def test_without_text_there_is_no_document_and_the_reason_is_said() -> None:
    with pytest.raises(
        RejectedError, match=r"fees.md holds no text\. Page 1 is a picture\."
    ) as told:
        prepared("\u200b \n", notices=(Notice("no-text", "x"), Notice("p", "Page 1 is a picture.")))
    assert told.value.code == "no-text"
