"""Planted credentials of every kind are found to the character, and masked."""

import random

import pytest

from chapterhouse.text.secrets import MASK, find_credentials, mask_credentials
from credentials import FORMS, plant


@pytest.mark.parametrize("kind", sorted(FORMS))
def test_every_kind_is_found_where_it_stands(kind: str) -> None:
    chance = random.Random(kind)
    for _ in range(20):
        planted = plant(kind, chance)
        (found,) = find_credentials(planted.text)
        assert (found.kind, found.start, found.end) == (planted.kind, planted.start, planted.end)
        masked = mask_credentials(planted.text, (found,))
        assert len(masked) == len(planted.text)
        assert masked[: found.start] == planted.text[: found.start]
        assert masked[found.end :] == planted.text[found.end :]
        assert set(masked[found.start : found.end]) <= {MASK, "\n", " "}
        assert find_credentials(masked) == ()
