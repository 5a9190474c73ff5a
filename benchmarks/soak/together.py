from pathlib import Path
from measuring import Bar, Table
def measure(folder: Path, share: float) -> tuple[list[Bar], list[Table]]:
    raise NotImplementedError
