"""LibreOffice, which prints what is made here and exports what others wrote."""

import subprocess
from collections.abc import Iterable
from pathlib import Path


def convert(files: Iterable[Path], wanted: str, target: Path, seconds: float = 300) -> None:
    """Convert files with LibreOffice, with a profile of its own in ``target``: another may be open.

    Args:
        wanted: As ``--convert-to`` takes it, such as ``pdf``.

    Raises:
        FileNotFoundError: it is not installed.
        subprocess.SubprocessError: it failed, or took too long.
    """
    profile = f"-env:UserInstallation={(target / 'profile').absolute().as_uri()}"
    command = ["soffice", profile, "--headless", "--convert-to", wanted, "--outdir", str(target)]
    command += map(str, files)
    subprocess.run(command, check=True, capture_output=True, timeout=seconds)
