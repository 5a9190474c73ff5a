"""Files built to break readers: each ends in a code or an extraction within seconds."""

import gzip
import io
import os
import re
import struct
import threading
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.errors import RejectedError
from chapterhouse.reading.detect import detect
from chapterhouse.reading.limits import NOTICES, REJECTIONS, Limits
from chapterhouse.reading.ole import compound_file as ole
from chapterhouse.reading.pool import ReadingPool
from chapterhouse.reading.preflight import preflight
from chapterhouse.types import Extraction

from .conftest import (
    EXTENSION,
    FLEET,
    codes,
    docx_parts,
    epub_parts,
    odf_parts,
    odf_table,
    png,
    xlsx_parts,
    zipped,
)

# What would hang fails by the clock of pytest-timeout.
pytestmark = pytest.mark.timeout(120)

# Bombs and limits of full size are for make soak.
SCALE = 1 if "CHAPTERHOUSE_LARGE" in os.environ else 10
LIMITS = replace(
    Limits(),
    archive_bytes=Limits().archive_bytes // SCALE,
    archive_entry_bytes=Limits().archive_entry_bytes // SCALE,
    archive_ratio_grace=Limits().archive_ratio_grace // min(SCALE, 5),
    line_bytes=Limits().line_bytes // SCALE,
    sheet_cells=Limits().sheet_cells // SCALE,
)
LAUGHS = '<!DOCTYPE lolz [<!ENTITY a "ha">' + "".join(
    f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(9)
)
LAUGHS += "]>"


@pytest.fixture(scope="module")
def pool() -> Iterator[ReadingPool]:
    with ReadingPool(1, LIMITS) as pool:
        yield pool


def end(pool: ReadingPool, data: bytes, name: str) -> Extraction | RejectedError:
    """Read a file and check that it ended in time, in a documented way, and alone."""
    try:
        outcome: Extraction | RejectedError = pool.read(data, name)
    except RejectedError as error:
        outcome = error
    if isinstance(outcome, RejectedError):
        assert outcome.code in REJECTIONS
    else:
        assert {notice.code for notice in outcome.notices} <= NOTICES.keys()
    assert pool.read(b"still here", "a.txt").pages[0].text == "still here"
    return outcome


def code(outcome: Extraction | RejectedError) -> str:
    assert isinstance(outcome, RejectedError), outcome
    return outcome.code


def text(outcome: Extraction | RejectedError) -> str:
    assert isinstance(outcome, Extraction), outcome
    return "".join(page.text for page in outcome.pages)


def raw_entry(name: bytes, stored: bytes, size: int, *, declared: int | None = None) -> bytes:
    """A local header and its deflated content."""
    shown = len(stored) if declared is None else declared
    return (
        struct.pack("<4s5H3L2H", b"PK\3\4", 20, 0, 8, 0, 0, 0, shown, size, len(name), 0)
        + name
        + stored
    )


def raw_record(name: bytes, stored: int, size: int, offset: int, extra: bytes = b"") -> bytes:
    """A directory record."""
    return (
        struct.pack(
            "<4s6H3L5H2L",
            *(b"PK\1\2", 20, 20, 0, 8, 0, 0, 0, stored, size, len(name), len(extra)),
            *(0, 0, 0, 0, offset),
        )
        + name
        + extra
    )


def raw_end(count: int, size: int, offset: int) -> bytes:
    return struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, count & 0xFFFF, count & 0xFFFF, size, offset, 0)


def deflated(data: bytes) -> bytes:
    compressor = zlib.compressobj(9, zlib.DEFLATED, -15)
    return compressor.compress(data) + compressor.flush()


def overlapping_bomb(entries: int = 200) -> bytes:
    """Fully overlapping: every record points to the same content."""
    content = deflated(bytes(1_000_000))
    local = raw_entry(b"word/document.xml", content, 1_000_000)
    records = b"".join(
        raw_record(b"word/document.xml", len(content), 1_000_000, 0) for _ in range(entries)
    )
    return local + records + raw_end(entries, len(records), len(local))


def quoted_overlap_bomb(entries: int = 50) -> bytes:
    """Each entry quotes the next one's header inside its own content (Fifield, 2019)."""
    kernel = deflated(bytes(1_000_000))
    body, offsets = raw_entry(b"kernel", kernel, 1_000_000), []
    files = [(b"kernel", len(kernel), 1_000_000)]
    for number in range(entries):
        name = b"%d" % number
        quote = struct.pack("<BHH", 0, len(body) & 0xFFFF, ~len(body) & 0xFFFF)
        stored, size = len(quote) + files[0][1], files[0][2]
        body = raw_entry(name, quote, size, declared=stored) + body
        files.insert(0, (name, stored, size))
    place = 0
    for name, _, _ in files:
        offsets.append(place)
        place += 30 + len(name) + (5 if name != b"kernel" else 0)
    records = b"".join(
        raw_record(name, stored, size, offset)
        for (name, stored, size), offset in zip(files, offsets, strict=True)
    )
    return body + records + raw_end(len(files), len(records), len(body))


def flat_bomb(part: str = "word/document.xml", size: int = 300_000_000 // SCALE) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in docx_parts().items():
            if name != part:
                archive.writestr(name, content)
        with archive.open(part, "w") as stream:
            for _ in range(size // 1_000_000):
                stream.write(bytes(1_000_000))
    return buffer.getvalue()


def lying_bomb() -> bytes:
    """A document whose largest part says 1 MB and unpacks to 300 MB."""
    data = bytearray(flat_bomb())
    record = data.rfind(b"word/document.xml") - 46
    struct.pack_into("<L", data, record + 24, 1_000_000)
    return bytes(data)


def zip64_lie() -> bytes:
    """A 64-bit field that says exabytes."""
    content = deflated(b"x")
    local = raw_entry(b"a.xml", content, 1)
    extra = struct.pack("<2HQ", 1, 8, 1 << 60)
    records = raw_record(b"a.xml", len(content), 0xFFFFFFFF, 0, extra)
    return local + records + raw_end(1, len(records), len(local))


def million_entries() -> bytes:
    """A 64-bit directory of a million empty entries, sharing one header."""
    local = raw_entry(b"", b"", 0)
    count = 1_000_000 // SCALE
    records = raw_record(b"", 0, 0, 0) * count
    at = len(local) + len(records)
    end64 = struct.pack(
        "<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, count, count, len(records), len(local)
    )
    locator = struct.pack("<4sLQL", b"PK\6\7", 0, at, 1)
    return local + records + end64 + locator + raw_end(0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF)


def encrypted_entry() -> bytes:
    data = bytearray(zipped(docx_parts()))
    data[6] |= 1
    place = data.find(b"PK\1\2")
    data[place + 8] |= 1
    return bytes(data)


def nested_zip(depth: int = 10) -> bytes:
    data = zipped({"a.txt": b"x" * 1000})
    for _ in range(depth):
        data = zipped({"a.zip": data})
    return data


def docx_with(prefix: str) -> bytes:
    parts = docx_parts()
    parts["word/document.xml"] = str(parts["word/document.xml"]).replace(
        '<?xml version="1.0"?>', '<?xml version="1.0"?>' + prefix
    )
    return zipped(parts)


def odt_with(content: str) -> bytes:
    return zipped(odf_parts("text", "<office:text/>") | {"content.xml": content})


def encrypted_odt() -> bytes:
    parts = odf_parts("text", "<office:text/>")
    manifest = str(parts["META-INF/manifest.xml"])
    parts["META-INF/manifest.xml"] = manifest.replace("/>", "><manifest:encryption-data/></x>")
    return zipped(parts, stored=("mimetype",))


DEEP_ODT = f"<office:text>{'<text:section>' * 50_000}x{'</text:section>' * 50_000}</office:text>"
# A file's name, the code that it is rejected with, and its bytes.
REJECTED: Mapping[str, tuple[str, str, Callable[[], bytes]]] = {
    "empty": ("a.docx", "empty", bytes),
    "flat bomb": ("a.docx", "archive-too-large", flat_bomb),
    "flat bomb of many": ("a.docx", "archive-ratio", lambda: flat_bomb(size=90_000_000 // SCALE)),
    "overlap": ("a.docx", "archive-overlap", overlapping_bomb),
    "quoted overlap": ("a.zip", "archive-overlap", quoted_overlap_bomb),
    "lying sizes": ("a.docx", "archive-damaged", lying_bomb),
    "zip64 lie": ("a.docx", "archive-too-large", zip64_lie),
    "a million entries": ("a.docx", "archive-too-many-entries", million_entries),
    "nested as docx": ("a.docx", "unsupported-format", nested_zip),
    "encrypted zip": ("a.docx", "encrypted", encrypted_entry),
    "encrypted office": ("a.docx", "encrypted",
        lambda: ole({"EncryptedPackage": b"x", "EncryptionInfo": b"x"})),
    "encrypted doc": ("a.doc", "encrypted",
        lambda: ole({"WordDocument": b"\xec\xa5" + bytes(8) + b"\x00\x01" + bytes(100)})),
    "encrypted xls": ("a.xls", "encrypted",
        lambda: ole({"Workbook": struct.pack("<4H", 0x809, 4, 0, 0) + b"\x2f\0\x02\0\0\0"})),
    "encrypted odt": ("a.odt", "encrypted", encrypted_odt),
    "rights on epub": ("a.epub", "encrypted",
        lambda: zipped(epub_parts() | {"META-INF/rights.xml": "<rights/>"})),
    "laughs in xml": ("a.xml", "xml-doctype", f"{LAUGHS}<a>&j;</a>".encode),
    "laughs in utf-16": ("a.xml", "xml-doctype",
        lambda: f'<?xml version="1.0"?>{LAUGHS}<a>&j;</a>'.encode("utf-16")),
    "laughs behind a comment": ("a.xml", "xml-doctype",
        f"<!-- <a> {'x' * 9000} -->{LAUGHS}<a>&j;</a>".encode),
    "laughs in svg": ("a.svg", "xml-doctype",
        f"{LAUGHS}<svg xmlns='http://www.w3.org/2000/svg'><text>&j;</text></svg>".encode),
    "laughs in html": ("a.html", "xml-doctype",
        f"{LAUGHS.replace('lolz', 'html')}<html><body>&j;</body></html>".encode),
    "laughs in docx": ("a.docx", "xml-doctype", lambda: docx_with(LAUGHS)),
    "laughs deep in docx": ("a.docx", "xml-doctype",
        lambda: docx_with(f"<!-- {'<w:x/>' * 5000} -->{LAUGHS}")),
    "laughs in odt": ("a.odt", "xml-doctype", lambda: odt_with(f"{LAUGHS}<a>&j;</a>")),
    "laughs in epub": ("a.epub", "xml-doctype",
        lambda: zipped(epub_parts() | {"a.xhtml": f"{LAUGHS}<html>&j;</html>"})),
    "one line": ("a.txt", "line-too-long", lambda: b"ab " * (20_000_000 // SCALE)),
    "one line of csv": ("a.csv", "line-too-long", lambda: b"a,b," * (15_000_000 // SCALE)),
    "gzip": ("a.txt", "archive-too-large", lambda: gzip.compress(bytes(50_000_000 // SCALE)) * 12),
    "program": ("a.pdf", "unsupported-format", lambda: b"\x7fELF\2\1\1" + bytes(500)),
    "noise": ("a.docx", "unsupported-format", lambda: bytes(range(256)) * 100),
    "cut docx": ("a.docx", "archive-damaged", lambda: zipped(docx_parts())[:-400]),
    "cut doc": ("a.doc", "unreadable", lambda: ole({"WordDocument": b"x"})[:700]),
    "circular doc": ("a.doc", "unreadable",
        lambda: (data := ole({"WordDocument": b"x"}))[:-4088] + b"\2\0\0\0" + data[-4084:]),
    "deep odt": ("a.odt", "too-deep", lambda: zipped(odf_parts("text", DEEP_ODT))),
    "broken odt": ("a.odt", "unreadable", lambda: odt_with("<office")),
    "odt without content": ("a.odt", "unreadable",
        lambda: zipped({"mimetype": "application/vnd.oasis.opendocument.text"})),
}  # fmt: skip


@pytest.mark.parametrize("kind", REJECTED)
def test_hostile_file_is_rejected(pool: ReadingPool, kind: str) -> None:
    name, wanted, build = REJECTED[kind]
    outcome = end(pool, build(), name)
    assert code(outcome) == wanted, outcome
    assert str(outcome).endswith(".")


NESTED_TABLES = "<w:tbl><w:tr><w:tc>" * 3_000 + "</w:tc></w:tr></w:tbl>" * 3_000
REPEATED = (
    '<office:{0}><table:table table:name="x"><table:table-row table:number-rows-repeated="1048576">'
    '<table:table-cell table:number-columns-repeated="16384" office:value-type="string">'
    "<text:p>x</text:p></table:table-cell></table:table-row></table:table></office:{0}>"
)


def far_xlsx() -> bytes:
    sheet = str(xlsx_parts()["xl/worksheets/sheet1.xml"]).replace('r="B2"', 'r="XFD1048576"')
    return zipped(xlsx_parts() | {"xl/worksheets/sheet1.xml": sheet})


def deep_message() -> bytes:
    part = b'Content-Type: multipart/mixed; boundary="b%d"\n\n--b%d\n'
    return b"".join(part % (n, n) for n in range(3000))


ENDURED: Mapping[str, tuple[str, Callable[[], bytes]]] = {
    "deep json": ("a.json", lambda: b"[" * 200_000 + b"]" * 200_000),
    "deep yaml": ("a.yaml", lambda: b"".join(b" " * n + b"a:\n" for n in range(1500))),
    "deep xml": ("a.xml", lambda: b"<a>" * 200_000 + b"</a>" * 200_000),
    "deep docx": ("a.docx", lambda: zipped(docx_parts(NESTED_TABLES))),
    "deep message": ("a.eml", deep_message),
    "ods of repeats": (
        "a.ods",
        lambda: zipped(odf_parts("spreadsheet", REPEATED.format("spreadsheet"))),
    ),
    "odt of repeats": ("a.odt", lambda: zipped(odf_parts("text", REPEATED.format("text")))),
    "xlsx at the edge": ("a.xlsx", far_xlsx),
    "many short lines": ("a.txt", lambda: b"\n" * (30_000_000 // SCALE)),
    "many quotes": ("a.csv", lambda: b'"' * (5_000_000 // SCALE)),
    "many cells": ("a.csv", lambda: b"a,b,c,d,e,f,g,h\n" * (700_000 // SCALE)),
    "backticks": ("a.py", lambda: b"`" * 1_000_000),
    "long headers": ("a.eml", lambda: b"Subject: " + b"=?utf-8?q?" * 100_000 + b"\n\nx\n"),
    "only NULs": ("a.txt", lambda: bytes(10_000)),
    "a tenth of NULs": ("a.txt", lambda: b"abcdefghijklmno\0" * 1000),
    "lone byte order mark": ("a.txt", lambda: b"\xff\xfe"),
    "half a UTF-16 unit": ("a.txt", lambda: b"\xff\xfea\0b"),
    "rtf of groups": ("a.rtf", lambda: b"{\\rtf1" + b"{" * 300_000),
    "msg in name only": ("a.msg", lambda: ole({"__properties_version1.0": b"x"})),
    "cut png": ("a.png", lambda: png()[:20]),
    "script and zip": ("a.sh", lambda: b"#!/bin/sh\necho hi\n" + zipped(docx_parts())),
    "pdf and zip": ("a.pdf", lambda: zipped(docx_parts()) + b"%PDF-1.4\n%%EOF"),
    "docx and html": ("a.html", lambda: zipped(docx_parts()) + b"<html><script>alert(1)</script>"),
}


@pytest.mark.parametrize("kind", ENDURED)
def test_hostile_file_is_endured(pool: ReadingPool, kind: str) -> None:
    name, build = ENDURED[kind]
    outcome = end(pool, build(), name)
    if isinstance(outcome, Extraction) and not text(outcome).strip():
        assert outcome.notices, "an empty extraction says why"


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.99])
def test_cut_files_end_in_order(
    pool: ReadingPool, documents: Mapping[str, bytes], share: float
) -> None:
    for name, data in documents.items():
        end(pool, data[: int(len(data) * share)], f"a.{EXTENSION.get(name, name)}")


@given(data=st.data())
def test_the_parent_survives_any_damage(
    documents: Mapping[str, bytes], data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from(sorted(documents)))
    damaged = bytearray(documents[name])
    for _ in range(data.draw(st.integers(1, 5))):
        place = data.draw(st.integers(0, len(damaged)))
        length = data.draw(st.integers(0, 8))
        damaged[place : place + length] = data.draw(st.binary(max_size=8))
    code = ""
    try:
        preflight(bytes(damaged), "a.docx", LIMITS)
        detect(bytes(damaged), "a.docx", LIMITS)
    except RejectedError as error:
        code = error.code
    assert not code or code in REJECTIONS


def test_external_entities_are_not_fetched(pool: ReadingPool, tmp_path: Path) -> None:
    sentinel = tmp_path / "sentinel.txt"
    sentinel.write_text("SENTINEL")
    entity = f'<!DOCTYPE a [<!ENTITY x SYSTEM "file://{sentinel}">]>'
    for name, data in (
        ("a.xml", f"{entity}<a>&x;</a>".encode()),
        ("a.docx", docx_with(entity)),
        ("a.epub", zipped(epub_parts() | {"a.xhtml": f"{entity}<html>&x;</html>"})),
    ):
        assert code(end(pool, data, name)) == "xml-doctype"


def test_a_text_beyond_the_limit_comes_in_parts(documents: Mapping[str, bytes]) -> None:
    with ReadingPool(1, Limits(text_characters=10)) as pool:
        extraction = pool.read(documents["txt"], "a.txt")
    assert extraction.pages[0].text == "The ferry "
    assert codes(extraction) == ["text-in-parts"]
    assert extraction.members[0].path == f"a part 2 of {len(extraction.members) + 1}.txt"
    parts = [extraction.pages[0].text.encode(), *(one.data for one in extraction.members)]
    assert b"".join(parts) == documents["txt"]


def test_cells_are_counted(limits: Limits) -> None:
    table = odf_parts("text", f"<office:text>{odf_table(FLEET * 2)}</office:text>")
    with ReadingPool(1, replace(limits, sheet_cells=4)) as pool:
        pool.read(b"a,b\nc,d\n", "a.csv")
        for name, data in (("a.csv", b"a,b\nc,d\ne,f\n"), ("a.odt", zipped(table))):
            assert code(end(pool, data, name)) == "too-many-cells"


def test_no_thread_is_left_behind(pool: ReadingPool) -> None:
    before = threading.active_count()
    with ReadingPool(2) as other:
        other.read(b"x", "a.txt")
    assert threading.active_count() == before


def test_every_code_in_the_source_is_explained() -> None:
    source = Path(preflight.__code__.co_filename).parent
    content = "".join(path.read_text() for path in source.glob("*.py"))
    used = set(re.findall(r"(?:RejectedError|Notice)\(\s*\"([a-z0-9-]+)\"", content))
    assert used
    assert used <= REJECTIONS.keys() | NOTICES.keys(), used - REJECTIONS.keys() - NOTICES.keys()
    assert all(sentence.endswith(".") for sentence in (*REJECTIONS.values(), *NOTICES.values()))
