"""How often the encoding of a text that states none is guessed right.

The texts are chardet's own, in folders named after their encoding. A guess is right where it gives
the text that the folder's encoding gives, taken as browsers take it (Windows-1252 for ISO 8859-1);
its name does not matter. Declarations inside the files are not looked at.

    python benchmarks/encoding_guesses.py [--wrong]

compares Chapterhouse with charset-normalizer and, where it is installed, chardet.
"""

import argparse
import re
import sys
from collections.abc import Callable
from pathlib import Path

from charset_normalizer import from_bytes

from chapterhouse.reading import encodings
from data_folder import data_folder

Guesser = Callable[[bytes], str]
# What a folder's name means where a superset is what people wrote in.
_SUPERSETS = {
    "ascii": "utf-8",
    "big5": "big5hkscs",
    "euc-kr": "cp949",
    "gb2312": "gb18030",
    "ibm855": "cp855",
    "ibm866": "cp866",
    "iso-8859-1": "cp1252",
    "iso-8859-9": "cp1254",
    "maccyrillic": "mac_cyrillic",
    "macroman": "mac_roman",
    "shift_jis": "cp932",
    "tis-620": "cp874",
}
_LANGUAGE = re.compile(r"(?<=\d)-[a-z]{3,}$")


def _chapterhouse(data: bytes) -> str:
    return encodings.decode(data)[0]


def _charset_normalizer(data: bytes) -> str:
    best = from_bytes(data).best()
    return _decoded(data, best.encoding if best is not None else "utf-8")


def _chardet() -> Guesser | None:
    try:
        import chardet  # type: ignore[import-not-found] # noqa: PLC0415 - only compared with
    except ImportError:
        return None
    return lambda data: _decoded(data, str(chardet.detect(data)["encoding"] or "utf-8"))


def _decoded(data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding, "replace")
    except LookupError:
        return ""


def _expected(data: bytes, folder: str) -> str | None:
    name = _LANGUAGE.sub("", folder.lower())
    return _decoded(data, _SUPERSETS.get(name, name)) or None


def _plain(text: str) -> str:
    """Leave out what differs between decoders that agree on every letter."""
    return "".join(re.sub("[\ufeff\\0\ufffd\x80-\x9f]", "", text).split())


def main() -> int:
    """Print right and all, by guesser; with ``--wrong`` also the files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wrong", action="store_true", help="name the files guessed wrong")
    options = parser.parse_args()
    root = data_folder() / "documents" / "chardet-encodings" / "tests"
    guessers: dict[str, Guesser] = {
        "chapterhouse": _chapterhouse,
        "charset-normalizer": _charset_normalizer,
    }
    if chardet := _chardet():
        guessers["chardet"] = chardet
    files = sorted(path for path in root.rglob("*") if path.is_file())
    known = [(path, text) for path in files if (text := _text(path)) is not None]
    print(f"{len(known)} texts, {len(files) - len(known)} in encodings that Python lacks")
    for name, guess in guessers.items():
        wrong = [path for path, text in known if _plain(guess(path.read_bytes())) != _plain(text)]
        print(f"{name}: {len(known) - len(wrong)} right of {len(known)}")
        if options.wrong:
            print(*(f"    {path.relative_to(root)}" for path in wrong), sep="\n")
    return 0


def _text(path: Path) -> str | None:
    return _expected(path.read_bytes(), path.parent.name)


if __name__ == "__main__":
    sys.exit(main())
