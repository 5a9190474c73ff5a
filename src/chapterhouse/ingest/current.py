"""A stored document as its file is at this moment; nothing is stored."""

import hashlib
from dataclasses import replace

from chapterhouse.connectors.content import open_source
from chapterhouse.errors import RejectedError
from chapterhouse.ingest.look import Work
from chapterhouse.ingest.plan import find_file
from chapterhouse.types import Body, Document


def read_current(document: Document, work: Work) -> tuple[Document, Body] | None:
    """Return a document and its text out of its file, where that has other bytes now.

    The text is empty where the file cannot be read any more.

    Returns:
        None where the file is as it was read, or not on this machine.
    """
    file = find_file(document, work.store)
    if file is None or file.problem is not None:
        return None
    try:
        content = open_source(file, maximum_bytes=work.maximum_bytes)
    except RejectedError:
        return None
    if content.sha256 == document.sha256:
        return None
    try:
        prepared = work.prepare(work.read(content.data, file.name).result(), file, content)
    except RejectedError:
        empty = hashlib.sha256(b"").hexdigest()
        return replace(document, sha256=content.sha256, text_sha256=empty), Body("")
    text = prepared.document.text_sha256
    return replace(document, sha256=content.sha256, text_sha256=text), prepared.body
