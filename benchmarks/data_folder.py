"""Where the shared data lies."""

import os
import sys
from pathlib import Path


def data_folder() -> Path:
    """Return the data folder: ``$CHAPTERHOUSE_DATA``, else ``../shared/data`` beside the checkout.

    Ends the program with an explanation when it is absent.
    """
    named = os.environ.get("CHAPTERHOUSE_DATA")
    folder = Path(named) if named else Path(__file__).parents[2] / "shared" / "data"
    if not folder.is_dir():
        sys.exit(f"no data at {folder}: set CHAPTERHOUSE_DATA to the folder that holds 'retrieval'")
    return folder
