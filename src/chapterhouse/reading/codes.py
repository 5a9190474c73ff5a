"""Every code that reading gives a file, and what it means.

Rejection codes travel in `RejectedError.code`, notice codes in `Notice.code`. Both are stable:
scripts and the ledger of files rely on them.
"""

from collections.abc import Mapping
from types import MappingProxyType

REJECTIONS: Mapping[str, str] = MappingProxyType(
    {
        "empty": "The file has no bytes.",
        "too-large": "The file is larger than the limit.",
        "unsupported-format": "The content is not a document of any format that can be read.",
        "encrypted": "The document is protected by a password or by rights management.",
        "unreadable": "The format is known, but the content is damaged or not well formed.",
        "archive-damaged": "The container's directory is missing, cut off or contradicts itself.",
        "archive-overlap": "Entries of the container share the same bytes, as ZIP bombs do.",
        "archive-too-large": "The container would unpack to more than the limit.",
        "archive-ratio": "An entry of the container would grow far more than documents do.",
        "archive-too-many-entries": "The container has more entries than the limit.",
        "line-too-long": "One line of the text is longer than the limit.",
        "too-deep": "Elements are nested deeper than the limit.",
        "too-many-cells": "The table has more cells than the limit.",
        "image-too-large": "The image has more pixels than the limit.",
        "symbolic-link": "Links are not followed, in folders and in archives.",
        "xml-doctype": "The XML declares a document type with entities, or where none belongs.",
        "missing-extra": "It needs a part that is not installed; the sentence says which.",
        "timed-out": "Reading took longer than the limit and was stopped.",
        "out-of-memory": "Reading needed more memory than the limit.",
        "reader-crashed": "The process that read the file died, or answered nonsense.",
    }
)

NOTICES: Mapping[str, str] = MappingProxyType(
    {
        "extension-mismatch": "The file's extension does not fit its content, which decided.",
        "encoding-guessed": "The text states no encoding; the most likely one was used.",
        "invisible-characters": "Invisible, control or private characters were removed.",
        "undecodable-characters": "Some bytes mean nothing in the text's encoding or a PDF's font.",
        "garbled-text": "Much of the text is no text of any language: a wrong encoding or font.",
        "text-truncated": "Pages that the sentence names were not read.",
        "text-in-parts": "The text is very long; its parts are documents of their own.",
        "attachments-not-read": "Files in it were not read.",
        "attachments-rejected": "Files in it gave no text; each is listed with its own reason.",
        "no-text": "No text was found in the file.",
        "contents-not-read": "Pictures or files in an Office document were not read.",
        "ocr": "A page was read by OCR; the sentence says how sure it is.",
        "ocr-unsure": "A page was read by OCR with a confidence at which words are often wrong.",
        "ocr-not-installed": "There is an image of text, and no OCR engine to read it.",
        "ocr-failed": "The OCR engine could not read an image of text.",
        "part-unreadable": "A part of the container could not be read; the others were.",
        "not-calculated": "Formulas have no stored value; the file shows what they calculate.",
        "page-unreadable": "A page could not be read; the others were.",
        "layout-skipped": "A page was too dense to look for headings in; its text is whole.",
        "form-not-read": "A form keeps its fields where they could not be read.",
        "incomplete": "An independent count finds words in a PDF that were not read.",
        "navigation-left-out": "Parts of a web page that surround its content were left out.",
        "running-lines": "Running headers and page numbers that say nothing new were left out.",
        "parser-warning": "The parser reported that it left something out.",
    }
)
