"""Numbers with their nouns, written the same everywhere."""


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun: ``1 file``, ``4,904 files``.

    Args:
        number: How many.
        noun: What one is called.
        plural: What several are called; ``noun`` with an s when empty.
    """
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"
