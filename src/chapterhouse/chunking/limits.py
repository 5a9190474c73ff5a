"""How long a chunk may be."""

from dataclasses import dataclass

TARGET, MINIMUM, MAXIMUM = 500, 100, 1_500
# Of the library's default: at 700 it recalls 91 % of the gold spans in five chunks, at 500 it does
# not (docs/decisions/0007-the-default-chunker.md).
AUTO_TARGET = 700
# Two chunks that are too short and one unit between them must fit into one.
_MAXIMUM_OVER_MINIMUM = 4


@dataclass(frozen=True, slots=True)
class Limits:
    """Lengths in characters.

    Attributes:
        target: What most chunks should be near.
        minimum: No chunk is shorter, unless it is the whole document.
        maximum: No chunk is longer, a repeated table header included.

    Raises:
        ValueError: unless 1 <= minimum <= target <= maximum and 4 * minimum <= maximum.
    """

    target: int = TARGET
    minimum: int = MINIMUM
    maximum: int = MAXIMUM

    def __post_init__(self) -> None:
        if not 1 <= self.minimum <= self.target <= self.maximum:
            raise ValueError(
                "lengths must be 1 <= minimum <= target <= maximum, got "
                f"{self.minimum}, {self.target} and {self.maximum}"
            )
        if self.minimum * _MAXIMUM_OVER_MINIMUM > self.maximum:
            raise ValueError(
                f"maximum must be at least {_MAXIMUM_OVER_MINIMUM} times minimum, "
                f"got {self.maximum} and {self.minimum}"
            )

    @property
    def longest_header(self) -> int:
        """Return how long a table header may be that is repeated in every chunk."""
        return self.maximum // 4

    @property
    def longest_unit(self) -> int:
        """Return the length from which on a sentence or row may be broken.

        Short enough that pieces can always be joined into chunks within the limits: at worst a
        chunk holds a repeated header, too little, a unit, and too little again.
        """
        return max(1, self.maximum - 2 * self.minimum - self.longest_header)


DEFAULT = Limits()
