"""Short names for addresses and commands, made of names as people write them."""

import re
import unicodedata
from collections.abc import Collection
from itertools import chain, count
from typing import Final

from chapterhouse.agents.definition import LONGEST_SLUG, RESERVED

_LONGEST_NUMBER: Final = 5  # characters, for a number behind it


def free_slug(name: str, taken: Collection[str], otherwise: str) -> str:
    """Return a short name for what is called so, which nothing has; ``otherwise`` without any."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    whole = "-".join(re.findall("[a-z0-9]+", plain))
    begun = whole[: LONGEST_SLUG - _LONGEST_NUMBER].strip("-") or otherwise
    others = (f"{begun}-{number}" for number in count(2))
    used = RESERVED.union(taken)
    return next(one for one in chain((begun,), others) if one not in used)
