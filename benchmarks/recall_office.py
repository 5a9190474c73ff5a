"""Independent readings of Office files, to find words that our readers lose.

``READERS`` gives two: what LibreOffice writes as text (through a PDF for presentations, which it
cannot write as text), and the words of the package's own XML. Run alone, it prints for every
Office file of the data folder which share of the other readers' words ours has, worst first:

    python benchmarks/recall_office.py [--below 0.99] [FILE ...]

LibreOffice and, for presentations, poppler's pdftotext must be installed.
"""

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from chapterhouse.errors import RejectedError
from chapterhouse.reading.dispatch import read
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.package_words import package_words
from chapterhouse.reading.words import count
from data_folder import data_folder

TEXTS = frozenset({".docx", ".docm", ".dotx", ".odt", ".doc", ".rtf"})
SHEETS = frozenset({".xlsx", ".xlsm", ".ods", ".xls"})
SLIDES = frozenset({".pptx", ".odp", ".ppt"})
# Fields, quotes, encoding UTF-8, all sheets (-1), values as they are shown.
_CSV = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false,false,false,-1"
_SECONDS = 120


def libreoffice(path: Path) -> str:
    """Return the text that LibreOffice exports from a file.

    Raises:
        FileNotFoundError: ``soffice`` or ``pdftotext`` is not installed.
        ValueError: LibreOffice writes nothing.
    """
    suffix = path.suffix.lower()
    wanted = _CSV if suffix in SHEETS else "pdf" if suffix in SLIDES else "txt:Text (encoded):UTF8"
    with tempfile.TemporaryDirectory() as folder:
        command = [_program("soffice"), "--headless", f"-env:UserInstallation=file://{folder}/home"]
        command += ["--convert-to", wanted, "--outdir", f"{folder}/out", str(path)]
        subprocess.run(command, capture_output=True, timeout=_SECONDS, check=False)
        written = sorted(Path(folder, "out").glob("*"))
        if not written:
            raise ValueError(f"LibreOffice writes nothing for {path.name}")
        if suffix in SLIDES:
            extract = [_program("pdftotext"), "-layout", str(written[0]), "-"]
            done = subprocess.run(extract, capture_output=True, timeout=_SECONDS, check=True)
            return done.stdout.decode("utf-8", "replace")
        return "\n".join(file.read_text("utf-8-sig", "replace") for file in written)


def package(path: Path) -> str:
    """Return the words of a package's own XML, in no order.

    Raises:
        ValueError: it is no package, or cannot be parsed.
    """
    words = package_words(path.read_bytes(), path.suffix.lower().lstrip("."))
    if words is None:
        raise ValueError(f"{path.name} has no words that can be counted")
    return " ".join(words.elements())


READERS: dict[str, Callable[[Path], str]] = {"libreoffice": libreoffice, "package": package}


def recall(path: Path, reader: Callable[[Path], str]) -> tuple[float, Counter[str]]:
    """Return the share of another reader's words that ours has, and the words it has not."""
    pages = read(path.read_bytes(), path.name, Limits()).pages
    ours = count("\n".join(page.text for page in pages))
    theirs = count(reader(path))
    missing = theirs - ours
    return 1 - missing.total() / max(1, theirs.total()), missing


def _program(name: str) -> str:
    if found := shutil.which(name):
        return found
    raise FileNotFoundError(f"{name} is not installed")


def main() -> None:
    """Print the files of which words are missing, and the medians."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--below", type=float, default=0.99, help="print files below this share")
    options = parser.parse_args()
    files = options.files or sorted(
        path
        for path in data_folder().glob("[df]*/**/*")
        if path.suffix.lower() in TEXTS | SHEETS | SLIDES
    )
    for name, reader in READERS.items():
        shares = []
        for path in files:
            try:
                share, missing = recall(path, reader)
            except (RejectedError, ValueError, subprocess.SubprocessError) as error:
                print(f"{name}\t-\t{path.name}\t{error}")
                continue
            except FileNotFoundError as error:
                sys.exit(str(error))
            shares.append(share)
            if share < options.below:
                lost = " ".join(f"{word}*{count}" for word, count in missing.most_common(12))
                print(f"{name}\t{share:.3f}\t{path.name}\t{lost}", flush=True)
        if shares:
            print(f"{name}: {len(shares)} files, median {statistics.median(shares):.4f}")


if __name__ == "__main__":
    main()
