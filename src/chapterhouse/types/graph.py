"""Who and what documents speak of, and the sentences that say so."""

from dataclasses import dataclass
from enum import StrEnum


class EntityKind(StrEnum):
    """What an entity is."""

    PERSON = "person"
    ORGANIZATION = "organization"
    LOCATION = "location"
    PRODUCT = "product"
    TECHNOLOGY = "technology"
    CONCEPT = "concept"


@dataclass(frozen=True, slots=True)
class Mention:
    """A name in a text, from ``start`` to ``end``; how likely it is one of this kind, 0 to 1."""

    start: int
    end: int
    kind: EntityKind
    confidence: float


@dataclass(frozen=True, slots=True)
class NamedMention:
    """A mention with what it is called and the sentence that it stands in.

    Attributes:
        entity: Key of the entity, as ``text.entity_names`` makes it.
        name: As it is written, on one line.
        sentence: Start and end of the sentence in the document's text.
    """

    mention: Mention
    entity: str
    name: str
    sentence: tuple[int, int]


@dataclass(frozen=True, slots=True)
class SharedName:
    """A short name that a document gives for a longer one; keys of both entities."""

    short: str
    long: str


@dataclass(frozen=True, slots=True)
class EntityNames:
    """What the names of one document are."""

    mentions: tuple[NamedMention, ...] = ()
    shared: tuple[SharedName, ...] = ()


@dataclass(frozen=True, slots=True)
class Entity:
    """Somebody or something that documents speak of.

    Attributes:
        id: Its key, which is its name as names are compared; stable as long as it is so called.
        name: As it is written most often.
        kind: What most mentions say, by their confidence.
        confidence: Mean of the mentions of this kind, 0 to 1.
        names: All ways in which it is written, the most frequent first.
        merged: Short names that mean it, as documents say (“… (HTA)”).
    """

    id: str
    name: str
    kind: EntityKind
    confidence: float
    mentions: int
    documents: int
    sentences: int
    names: tuple[str, ...] = ()
    merged: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SentencePlace:
    """A sentence that names an entity: its place in the document's text."""

    document_id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class EntityLink:
    """Two entities that stand in one sentence.

    Attributes:
        together: Sentences that name both.
        significance: How far that is from chance: twice the logarithm of the likelihood ratio (G²).
        evidence: One of the sentences.
    """

    source: str
    target: str
    together: int
    significance: float
    evidence: SentencePlace


@dataclass(frozen=True, slots=True)
class EntitySentence:
    """A sentence that names an entity, as it stands in its document.

    Attributes:
        title: Of the document.
        source: Likewise.
        start: Where it begins in the document's text.
        page: Number of the page, slide or sheet, or None.
    """

    document_id: str
    title: str
    source: str
    start: int
    end: int
    text: str
    page: int | None = None


@dataclass(frozen=True, slots=True)
class RelatedEntity:
    """An entity that stands in one sentence with another, and one of these sentences."""

    entity: Entity
    together: int
    significance: float
    evidence: EntitySentence


@dataclass(frozen=True, slots=True)
class EntityList:
    """A part of the entities, how many fit in all, and how many documents are still to be read."""

    entities: tuple[Entity, ...]
    total: int
    pending: int = 0


@dataclass(frozen=True, slots=True)
class EntityPage:
    """What documents say of an entity: sentences in their order, and whom it stands with."""

    entity: Entity
    sentences: tuple[EntitySentence, ...]
    related: tuple[RelatedEntity, ...]
    pending: int = 0


@dataclass(frozen=True, slots=True)
class EntityPath:
    """A shortest way from one entity to another, each step with a sentence that names both.

    ``steps`` are empty where there is none of at most three.
    """

    source: Entity
    target: Entity
    steps: tuple[RelatedEntity, ...]
    pending: int = 0
