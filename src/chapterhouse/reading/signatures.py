"""First bytes of files: formats told by them alone, and what other things look like."""

import codecs
import re

PDF_WINDOW = 1024  # Adobe readers accept a header anywhere in it ([ISO 32000-1] note to 7.5.2)

# UTF-32 first: its little-endian mark begins like that of UTF-16.
BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_IMAGES = (
    (b"\x89PNG\r\n\x1a\n", "png"),
    (b"\xff\xd8\xff", "jpeg"),
    (b"GIF87a", "gif"),
    (b"GIF89a", "gif"),
    (b"II*\0", "tiff"),
    (b"MM\0*", "tiff"),
)
_ARCHIVES = (
    (b"\x1f\x8b\x08", "gz"),
    (b"BZh", "bz2"),
    (b"\xfd7zXZ\0", "xz"),
)
_OTHERS = (
    (b"\x7fELF", "a program for Linux"),
    (b"MZ", "a program for Windows"),
    (b"\xcf\xfa\xed\xfe", "a program for macOS"),
    (b"\xce\xfa\xed\xfe", "a program for macOS"),
    (b"\xca\xfe\xba\xbe", "compiled Java or a program for macOS"),
    (b"\0asm", "a WebAssembly module"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"OggS", "an Ogg sound or film"),
    (b"ID3", "an MP3 sound"),
    (b"\xff\xfb", "an MP3 sound"),
    (b"fLaC", "a FLAC sound"),
    (b"\x1aE\xdf\xa3", "a Matroska or WebM film"),
    (b"wOFF", "a font"),
    (b"wOF2", "a font"),
    (b"OTTO", "a font"),
    (b"\0\x01\0\0\0", "a font"),
    (b"%!PS", "a PostScript file"),
    (b"\xd7\xcd\xc6\x9a", "a Windows metafile"),
    (b"PAR1", "a Parquet table"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"\x80\x04\x95", "a Python pickle"),
    (b"!<arch>\n", "a static library or Debian package"),
)
_TEXTUAL = frozenset({b"MZ", b"BZh", b"ID3", b"PAR1", b"OTTO", b"OggS"})  # words begin so too
_TAR_MARK = slice(257, 262)
_PALM_KIND = slice(60, 68)
_CONTROLS = 0.1  # share of a text above which it is none
_NOISE_CONTROLS = 0.02  # likewise among many bytes beyond ASCII, of which noise has a ninth
_NOISE_BEYOND = 0.2
_ASCII = bytes(range(128))
_CONTROL = bytes({*range(32)} - {9, 10, 12, 13, 27} | {127})
# A message begins behind an empty line with "From ", a sender and a date that ends in a year.
MESSAGE_START = re.compile(rb"(?:\A|(?<=\n\n)|(?<=\r\n\r\n))From \S[^\n]*\b\d{4}[^\S\n]*\r?\n")


def image_format(data: bytes) -> str:
    """Return the format of an image, or an empty string."""
    for signature, name in _IMAGES:
        if data.startswith(signature):
            return name
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "webp"
    # "BM" begins words as well: the header's reserved bytes and size of the next part decide.
    header = int.from_bytes(data[14:18], "little")
    if (
        data.startswith(b"BM")
        and data[6:10] == b"\0\0\0\0"
        and header in {12, 40, 52, 56, 108, 124}
    ):
        return "bmp"
    return ""


def has_pdf_header(data: bytes, *, claimed: bool) -> bool:
    """Tell whether the bytes are a PDF.

    The header may follow some other bytes; then the name or the end of the file must agree, or
    a text about PDF would be taken for one.
    """
    place = data.find(b"%PDF-", 0, PDF_WINDOW)
    if place < 0:
        return False
    return not data[:place].strip(b"\xef\xbb\xbf \t\r\n\0") or claimed or b"%%EOF" in data[-2048:]


def archive_format(data: bytes) -> str:
    """Return the format of an archive that is no ZIP, or an empty string."""
    for signature, name in _ARCHIVES:
        if data.startswith(signature) and (signature not in _TEXTUAL or looks_binary(data)):
            return name
    return "tar" if data[_TAR_MARK] == b"ustar" else ""


def other_content(data: bytes) -> str:
    """Say what bytes that are no document look like, or return an empty string."""
    for signature, what in _OTHERS:
        if data.startswith(signature) and (signature not in _TEXTUAL or looks_binary(data)):
            return what
    if data[_PALM_KIND] == b"BOOKMOBI":
        return "a Kindle or Mobipocket e-book"
    if data[4:8] == b"ftyp":
        return "a film, sound or photo (MP4, QuickTime, HEIF or AVIF)"
    if data.startswith(b"RIFF") and data[8:12] in {b"WAVE", b"AVI "}:
        return "a sound or film (RIFF)"
    return ""


def wide_encoding(data: bytes) -> str:
    """Return the UTF-16 or UTF-32 encoding of bytes without a byte order mark, or nothing.

    In text of most scripts the upper bytes of many characters are zero, always on one side.
    """
    sample = data[: 4096 - len(data[:4096]) % 4 if len(data) >= 4 else 0]  # noqa: PLR2004 - one UTF-32 unit
    if not sample or len(data) % 2:
        return ""
    zeros = [sample[offset::4].count(0) / (len(sample) // 4) for offset in range(4)]
    if len(data) % 4 == 0 and min(zeros[2:]) > 0.95 and zeros[0] < 0.1:  # noqa: PLR2004 - shares of zeros
        return "utf-32-le"
    if len(data) % 4 == 0 and min(zeros[:2]) > 0.95 and zeros[3] < 0.1:  # noqa: PLR2004 - likewise
        return "utf-32-be"
    even, odd = (zeros[0] + zeros[2]) / 2, (zeros[1] + zeros[3]) / 2
    if odd > 0.4 and even < 0.05:  # noqa: PLR2004 - likewise
        return "utf-16-le"
    if even > 0.4 and odd < 0.05:  # noqa: PLR2004 - likewise
        return "utf-16-be"
    return ""


def looks_binary(data: bytes) -> bool:
    """Tell whether bytes hold more control characters than any text does."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")) or wide_encoding(data):
        return False
    sample = data[:65_536]
    if b"\x1b$)" in sample:  # ISO 2022 switches its character sets by control characters
        sample = sample.translate(None, b"\x0e\x0f")
    controls = len(sample) - len(sample.translate(None, _CONTROL))
    # A text with a few stray NULs stays a text, but no table of letters has controls among them.
    bound = _NOISE_CONTROLS if _is_noise(sample) else _CONTROLS
    return controls > bound * len(sample)


def _is_noise(sample: bytes) -> bool:
    """Tell whether many bytes are beyond ASCII and few of them UTF-8."""
    beyond = len(sample.translate(None, _ASCII))
    if beyond <= _NOISE_BEYOND * len(sample):
        return False
    return sample.decode("utf-8", "replace").count("\ufffd") > _NOISE_BEYOND * beyond


def is_mailbox(data: bytes, least: int) -> bool:
    """Whether a text begins with the separator of a mailbox and has so many of them, 1 or 2."""
    found = MESSAGE_START.match(data)
    return found is not None and (least == 1 or MESSAGE_START.search(data, found.end()) is not None)
