"""Zip packages whose bytes depend on nothing but their content."""

import io
import zipfile
from collections.abc import Mapping
from xml.sax.saxutils import escape

# ``zlib`` may compress differently from one build to the next, so members are stored.
_WHEN = (2025, 11, 30, 12, 0, 0)
XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'


def pack(members: Mapping[str, str]) -> bytes:
    """Return a zip archive of these members, in this order."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, content in members.items():
            entry = zipfile.ZipInfo(name, _WHEN)
            entry.external_attr = 0o644 << 16
            entry.create_system = 3
            archive.writestr(entry, content.encode())
    return buffer.getvalue()


def text(value: str) -> str:
    """Escape a value for XML content and double-quoted attributes."""
    return escape(value, {'"': "&quot;"})


def core_properties(title: str, creator: str, when: str) -> str:
    """Return ``docProps/core.xml`` of an Office Open XML package."""
    return (
        f"{XML}<cp:coreProperties"
        ' xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties"'
        ' xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/"'
        ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">'
        f"<dc:title>{text(title)}</dc:title><dc:creator>{text(creator)}</dc:creator>"
        f'<dcterms:created xsi:type="dcterms:W3CDTF">{when}T12:00:00Z</dcterms:created>'
        f'<dcterms:modified xsi:type="dcterms:W3CDTF">{when}T12:00:00Z</dcterms:modified>'
        "</cp:coreProperties>"
    )


def content_types(parts: Mapping[str, str]) -> str:
    """Return ``[Content_Types].xml`` for parts and their types."""
    overrides = "".join(
        f'<Override PartName="/{part}" ContentType="application/vnd.openxmlformats-{kind}+xml"/>'
        for part, kind in parts.items()
    )
    return (
        f'{XML}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="rels"'
        ' ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Default Extension="xml" ContentType="application/xml"/>{overrides}</Types>'
    )


def relationships(targets: Mapping[str, str]) -> str:
    """Return a ``.rels`` part: target -> kind, numbered rId1, rId2 in order."""
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006/relationships"
    rows = "".join(
        f'<Relationship Id="rId{number}" Target="{target}"'
        f' Type="{package if kind.startswith("metadata") else office}/{kind}"/>'
        for number, (target, kind) in enumerate(targets.items(), 1)
    )
    return f'{XML}<Relationships xmlns="{package}">{rows}</Relationships>'


ROOT_TYPES = {"docProps/core.xml": "package.core-properties"}
CORE = {"docProps/core.xml": "metadata/core-properties"}
