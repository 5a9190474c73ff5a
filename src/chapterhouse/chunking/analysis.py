"""A body that remembers what chunking finds out about it, so that nothing is worked out twice."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from chapterhouse.chunking.units import Limits, Unit, fit, units_of
from chapterhouse.text.analyse import analyse
from chapterhouse.text.language import detect
from chapterhouse.text.language_data import STOPWORDS
from chapterhouse.types import Body

Terms = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Analysed(Body):
    """A body with its language, units and their terms, each found when first asked for.

    Every strategy takes a plain body too and analyses it for itself; handing the same
    ``Analysed`` to several makes them share the work.

    Attributes:
        formats: What the file is called, the closest name first: its extension, its format.
    """

    formats: tuple[str, ...] = ()

    @cached_property
    def language(self) -> str:
        """ISO 639-1 code, or empty."""
        return detect(self.text)

    @cached_property
    def _fitted(self) -> dict[Limits, "Units"]:
        return {}

    def units(self, limits: Limits) -> "Units":
        """Return the units broken so that they fit into chunks within ``limits``."""
        known = self._fitted.get(limits)
        if known is None:
            units = fit(self.text, units_of(self), limits)
            known = self._fitted[limits] = Units(self.text, self.language, units)
        return known


@dataclass(frozen=True, eq=False)
class Units:
    """Units of a text with their terms."""

    text: str
    language: str
    units: tuple[Unit, ...]

    @cached_property
    def terms(self) -> Sequence[Terms]:
        """Index terms of each unit, in order and with repetitions."""
        text, language = self.text, self.language
        return [tuple(analyse(text[unit.start : unit.end], language)) for unit in self.units]

    @cached_property
    def keywords(self) -> Sequence[frozenset[str]]:
        """Distinct terms of each unit that are no function words."""
        idle = function_terms(self.language)
        return [frozenset(terms).difference(idle) for terms in self.terms]


@cache
def function_terms(language: str) -> frozenset[str]:
    """Return the index terms of the function words of a language; English where it is unknown."""
    words = STOPWORDS.get(language or "en", frozenset())
    return frozenset(term for word in words for term in analyse(word, language))


def analyse_body(body: Body, formats: tuple[str, ...] = ()) -> Analysed:
    """Return ``body`` as one that remembers; itself where it is one already."""
    if isinstance(body, Analysed):
        return body
    return Analysed(body.text, body.sections, body.pages, formats)
