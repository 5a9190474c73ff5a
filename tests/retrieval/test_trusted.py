"""A filter by trust finds what an unlimited search finds without the rest."""

from collections.abc import Mapping, Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from chapterhouse.retrieval.trusted import Trusted, TrustedVectors
from chapterhouse.types import CorpusCounts, Scope, Scored, Trust

OWN = Scope(None, (Trust.OWN,))
LEVELS = st.lists(st.sampled_from(Trust), max_size=60)


class Ranking:
    """A search over chunks whose key is their place; it remembers how deep it was asked."""

    def __init__(self, levels: Sequence[Trust]) -> None:
        self.levels = levels
        self.depths: list[int] = []

    def best(self, depth: int) -> list[Scored]:
        self.depths.append(depth)
        return [Scored(key, 1.0 - key / 1_000) for key in range(min(depth, len(self.levels)))]

    def search(
        self, _vector: NDArray[np.float32], _scope: Scope, limit: int, also: Sequence[int] = ()
    ) -> list[Scored]:
        best = self.best(limit)
        known = {hit.key for hit in best}
        return best + [Scored(key, 1.0 - key / 1_000) for key in sorted({*also} - known)]

    def trusted(self) -> Trusted:
        def census(scope: Scope) -> CorpusCounts:
            return CorpusCounts(1, sum(map(scope.trusts, self.levels)), {})

        def documents_of(keys: Sequence[int], scope: Scope) -> Mapping[int, str]:
            return {key: str(key) for key in keys if scope.trusts(self.levels[key])}

        return Trusted(census, documents_of)  # type: ignore[arg-type]  # it is given lists


@given(LEVELS, st.integers(1, 20), st.sets(st.sampled_from(Trust)))
def test_as_many_hits_come_as_there_are(
    levels: list[Trust], limit: int, wanted: set[Trust]
) -> None:
    ranking, scope = Ranking(levels), Scope(None, tuple(wanted))
    found = ranking.trusted().best(ranking.best, scope, limit)
    everything = [hit for hit in ranking.best(len(levels)) if scope.trusts(levels[hit.key])]
    assert list(found) == everything[:limit]


@given(LEVELS, st.integers(1, 20), st.data())
def test_cosines_that_are_asked_for_come_besides(
    levels: list[Trust], limit: int, data: st.DataObject
) -> None:
    own = [key for key, level in enumerate(levels) if level is Trust.OWN]
    also = data.draw(st.lists(st.sampled_from(own), unique=True)) if own else []
    ranking = Ranking(levels)
    vectors = TrustedVectors(ranking, ranking.trusted())
    keys = [hit.key for hit in vectors.search(np.zeros(1, np.float32), OWN, limit, also)]
    assert keys == own[:limit] + [key for key in sorted(also) if key not in own[:limit]]


def test_nothing_is_searched_where_nothing_is_trusted_so_far() -> None:
    ranking = Ranking([Trust.WEB] * 5)
    assert ranking.trusted().best(ranking.best, OWN, 3) == ()
    assert ranking.depths == []
