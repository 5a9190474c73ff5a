"""Links of the graph: what sentences say that one entity is to another, or that they name both.

They are counted from the rows of the documents inside a scope.
"""

import json
import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

import apsw

from chapterhouse.index.entity_view import EntityView, scoped
from chapterhouse.types import Scope
from chapterhouse.types.graph import EntityLink, RelationType, SentencePlace

_STATED: Final = scoped(
    "relation",
    """
SELECT source, type, target, document, sentence, sentence_end, confidence FROM relation
WHERE (
  source IN (SELECT value FROM json_each(?2)) OR target IN (SELECT value FROM json_each(?2))
) AND <visible>
""",
)
_Links = Mapping[tuple[str, str], EntityLink]


def typed_links(
    connection: apsw.Connection,
    keys: Collection[str],
    scope: Scope,
    view: EntityView,
    plain: _Links,
) -> Sequence[EntityLink]:
    """Return what is said that some entities are to others, what more sentences say first.

    The surest of the sentences is the evidence.

    Args:
        plain: Whom they stand with, by both: of each pair that says how far that is from chance.
    """
    wanted = set(keys)
    rows = [own for key in wanted for own in view.keys(key)]
    stated: dict[tuple[str, str, RelationType, bool], dict[SentencePlace, float]] = defaultdict(
        dict
    )
    for source, type_, target, document, start, end, sure in connection.execute(
        _STATED, (scope.key, json.dumps(rows))
    ):
        ends = [view.long_names.get(str(key), str(key)) for key in (source, target)]
        if ends[0] == ends[1] or not set(ends) <= view.entities.keys():
            continue
        place = SentencePlace(str(document), int(str(start)), int(str(end)))
        for inverse, (one, other) in enumerate((ends, ends[::-1])):
            if one in wanted:
                places = stated[one, other, RelationType(str(type_)), bool(inverse)]
                places[place] = max(places.get(place, 0.0), float(str(sure)))
    links = [
        EntityLink(
            one,
            other,
            len(places),
            plain[one, other].significance if (one, other) in plain else 0.0,
            min(places, key=lambda at: (-places[at], at.document_id, at.start)),
            type_,
            inverse,
        )
        for (one, other, type_, inverse), places in stated.items()
    ]
    return sorted(
        links, key=lambda one: (-one.together, one.relation, one.inverse, one.source, one.target)
    )


def with_types(
    connection: apsw.Connection, links: Iterable[EntityLink], scope: Scope, view: EntityView
) -> Sequence[EntityLink]:
    """Return links, those of which a sentence says more with what it says."""
    found = []
    for link in links:
        pair = {(link.source, link.target): link}
        typed = typed_links(connection, [link.source], scope, view, pair)
        stated = next((one for one in typed if one.target == link.target), link)
        found.append(replace(stated, together=link.together))
    return found


def link_of(
    source: str, target: str, together: Collection[int], places: Mapping[int, SentencePlace],
    view: EntityView,
) -> EntityLink:  # fmt: skip
    """Return the link of two entities that some sentences name both, by their numbers."""
    one, other = (view.entities[key].sentences for key in (source, target))
    significance = likelihood_ratio(len(together), one, other, view.sentences)
    evidence = min((places[place] for place in together), key=lambda at: (at.document_id, at.start))
    return EntityLink(source, target, len(together), round(significance, 3), evidence)


def likelihood_ratio(together: int, one: int, other: int, total: int) -> float:
    """Return G² of two that stand in ``together`` of ``total`` sentences.

    It is 0 where that is rarer than by chance.

    Source: Dunning, Computational Linguistics 1993.
    """
    if together * total <= one * other:
        return 0.0
    cells = (
        (together, one * other),
        (one - together, one * (total - other)),
        (other - together, (total - one) * other),
        (total - one - other + together, (total - one) * (total - other)),
    )
    return 2 * sum(
        seen * math.log(seen * total / expected) for seen, expected in cells if seen and expected
    )
