"""What stands in the lexical index: one entry a chunk."""

from typing import Final

import tantivy

from chapterhouse.index.forward import Fields
from chapterhouse.text.analyse import analyse
from chapterhouse.text.terms import text_of_section
from chapterhouse.types import Chunk, Document

# The weight of a field in the sum of BM25 scores; chosen by ``make eval``.
FIELD_WEIGHTS: Final = {"body": 1.0, "title": 0.3, "section": 0.15}


def fields_of(chunk: Chunk, title: list[str], language: str) -> Fields:
    """Return the terms of a chunk's text, of its section path, and those of its title."""
    text = analyse(chunk.header + chunk.text, language)
    section = analyse(text_of_section(chunk.section_path), language)
    return text, section, title


def make_schema() -> tantivy.Schema:
    """Return the fields of an entry; the body holds section path and title, too."""
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("key", fast=True)
    builder.add_text_field("document", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("shelf", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("title", tokenizer_name="terms", index_option="freq")
    builder.add_text_field("section", tokenizer_name="terms", index_option="freq")
    builder.add_text_field("body", tokenizer_name="terms", index_option="position")
    return builder.build()


def entry_of(document: Document, key: int, fields: Fields) -> tantivy.Document:
    """Return the entry of a chunk."""
    text, section, title = map(" ".join, fields)
    entry = tantivy.Document()
    entry.add_unsigned("key", key)
    entry.add_text("document", document.id)
    for shelf in document.shelves:
        entry.add_text("shelf", shelf)
    entry.add_text("title", title)
    entry.add_text("section", section)
    entry.add_text("body", f"{text} {section} {title}")
    return entry
