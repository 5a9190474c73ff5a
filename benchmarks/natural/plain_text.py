"""The text of a document as others extract it: what a quotation is held against.

None of this is our own reading: what our readers lose must be missed by the measure.
"""

# ruff: noqa: PLC0415 - each library is imported for the files that need it

import io
import re
import unicodedata
import zipfile
from pathlib import PurePath

_PLAIN = frozenset({".md", ".txt", ".asciidoc", ".csv"})
_OPEN_DOCUMENT = frozenset({".odt", ".ods", ".odp"})
_MARKITDOWN = frozenset({".docx", ".pptx", ".xlsx", ".xlsm"})


def plain_text(name: str, data: bytes) -> str:
    """Return a document's whole text, with navigation and headings, as a person might see it.

    Raises:
        ValueError: no library here reads files of this kind.
    """
    suffix = PurePath(name).suffix.lower()
    if suffix in _PLAIN:
        return data.decode("utf-8", "replace")
    if suffix == ".html":
        return _html(data)
    if suffix == ".pdf":
        return _pdf(data)
    if suffix in _OPEN_DOCUMENT:
        return _archive(data, r"(content|styles)\.xml$")
    if suffix == ".epub":
        return _archive(data, r"\.x?html$")
    if suffix in _MARKITDOWN:
        return _markitdown(data, suffix)
    raise ValueError(f"{name}: nothing here reads {suffix!r} independently of Chapterhouse")


def comparable(text: str) -> str:
    """Return a text as quotations are compared: NFKC, lower case, plain quotes, words only.

    Marks of Markdown and every run of space count as one space, so that emphasis, tables and line
    breaks do not tell two copies of a sentence apart.
    """
    text = unicodedata.normalize("NFKC", text).casefold().translate(_QUOTES)
    text = re.sub(r"\]\([^)\s]*\)", "] ", text)
    text = re.sub(r"&(amp|nbsp|lt|gt|quot);", " ", text)
    return re.sub(r"[\s*_`|#>\[\]\\~-]+", " ", text).strip()


_QUOTES = str.maketrans("’‘‚“”„«»–—‑\u00ad", "''''\"\"\"\"---" + " ")


def holds(text: str, alternative: str) -> bool:
    """Whether a comparable text has a fact's alternative, as whole words or numbers."""
    wanted = re.escape(comparable(alternative))
    return re.search(rf"(?<!\w){wanted}(?!\w)", text) is not None


def _html(data: bytes) -> str:
    from lxml import html

    tree = html.fromstring(data)
    for element in tree.xpath("//script|//style|//noscript|//template"):
        element.drop_tree()
    parts = (part.strip() for part in tree.itertext() if part.strip())
    return "\n".join(parts)


def _pdf(data: bytes) -> str:
    import pypdfium2

    with pypdfium2.PdfDocument(data) as document:
        pages = [page.get_textpage().get_text_bounded() for page in document]
    return "\n".join(pages).encode("utf-8", "replace").decode("utf-8")


def _archive(data: bytes, members: str) -> str:
    from lxml import etree

    texts = []
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for member in archive.namelist():
            if re.search(members, member):
                parser = etree.XMLParser(recover=True, resolve_entities=False)
                tree = etree.fromstring(archive.read(member), parser)
                blocks = tree.xpath(
                    "//*[local-name()='p' or local-name()='h' or local-name()='li' "
                    "or local-name()='h1' or local-name()='h2' or local-name()='h3']"
                )
                texts += ["".join(block.itertext()).strip() for block in blocks]
    return "\n".join(filter(None, texts))


def _markitdown(data: bytes, suffix: str) -> str:
    from markitdown import MarkItDown, StreamInfo

    read = MarkItDown(enable_plugins=False).convert_stream(
        io.BytesIO(data), stream_info=StreamInfo(extension=suffix)
    )
    return str(read.text_content)
