"""Who and what documents speak of, and the sentences that say so."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class EntityKind(StrEnum):
    """What an entity is."""

    PERSON = "person"
    ORGANIZATION = "organization"
    LOCATION = "location"
    PRODUCT = "product"
    TECHNOLOGY = "technology"
    CONCEPT = "concept"


class RelationType(StrEnum):
    """What one entity is to another."""

    IS_PART_OF = "is_part_of"
    USES = "uses"
    CREATED_BY = "created_by"
    IMPROVES = "improves"
    RELATED_TO = "related_to"
    ALTERNATIVE_TO = "alternative_to"
    DEPENDS_ON = "depends_on"


_WORDS: Final = {
    RelationType.IS_PART_OF: ("is part of", "has as a part"),
    RelationType.USES: ("uses", "is used by"),
    RelationType.CREATED_BY: ("was created by", "created"),
    RelationType.IMPROVES: ("improves", "is improved by"),
    RelationType.ALTERNATIVE_TO: ("is an alternative to", "is an alternative to"),
    RelationType.DEPENDS_ON: ("depends on", "is needed by"),
}


@dataclass(frozen=True, slots=True)
class Mention:
    """A name in a text, from ``start`` to ``end``.

    Attributes:
        confidence: How likely it is one of this kind, 0 to 1.
        likelihood: How likely it is a name, of whatever kind; of a term that is none, 0.
    """

    start: int
    end: int
    kind: EntityKind
    confidence: float
    likelihood: float = 1.0


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
class Relation:
    """What a sentence says that one entity is to another; how likely it says so, 0 to 1.

    Attributes:
        source, target: Keys of the mentions.
        sentence: Start and end in the document's text.
    """

    source: str
    type: RelationType
    target: str
    sentence: tuple[int, int]
    confidence: float


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
    relations: tuple[Relation, ...] = ()


class MergeReason(StrEnum):
    """Why a way to write a name is the name of an entity."""

    LAST_NAME = "last name"
    FIRST_NAME = "first name"
    PARTY = "party"
    INITIALS = "initials"
    SHORTER = "shorter name"
    ACRONYM = "acronym"
    COMPANY_FORM = "company form"
    ACCENTS = "accents"
    PLURAL = "plural"
    BY_HAND = "by hand"


@dataclass(frozen=True, slots=True)
class MergedName:
    """Another way to write the name of an entity, and why it is one."""

    name: str
    reason: MergeReason


@dataclass(frozen=True, slots=True)
class NameDecision:
    """What somebody said of a name: that it means another entity, or is one by itself.

    Attributes:
        name, entity: Keys; the same where the name is to stand by itself.
        decided: Seconds since 1970.
    """

    name: str
    entity: str
    decided: int
    decided_by: str


@dataclass(frozen=True, slots=True)
class Entity:
    """Somebody or something that documents speak of.

    Attributes:
        id: Its key, which is its name as names are compared; stable as long as it is so called.
        name: As it is written most often.
        kind: What most mentions say, by their confidence.
        confidence: Mean of the mentions of this kind, 0 to 1.
        names: All ways in which it is written, the most frequent first.
        merged: Those of other keys that mean it, and why (“… (HTA)”).
    """

    id: str
    name: str
    kind: EntityKind
    confidence: float
    mentions: int
    documents: int
    sentences: int
    names: tuple[str, ...] = ()
    merged: tuple[MergedName, ...] = ()


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
        together: Sentences that name both; of a typed relation, those that say it.
        significance: How far that is from chance: twice the logarithm of the likelihood ratio (G²).
        evidence: One of the sentences.
        relation: What the source is to the target.
        inverse: Whether it is the target that is it to the source.
    """

    source: str
    target: str
    together: int
    significance: float
    evidence: SentencePlace
    relation: RelationType = RelationType.RELATED_TO
    inverse: bool = False


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
    """An entity that stands in one sentence with another, and one of these sentences.

    Attributes:
        relation: What the other one is to it.
        inverse: Whether it is this one that is it to the other.
    """

    entity: Entity
    together: int
    significance: float
    evidence: EntitySentence
    relation: RelationType = RelationType.RELATED_TO
    inverse: bool = False

    @property
    def words(self) -> str:
        """What the first one is to this one, in words; empty where they only stand together."""
        return _WORDS.get(self.relation, ("", ""))[self.inverse]


@dataclass(frozen=True, slots=True)
class NamingDocument:
    """A document that names an entity, in so many sentences."""

    document_id: str
    title: str
    source: str
    sentences: int


@dataclass(frozen=True, slots=True)
class EntityList:
    """A part of the entities, how many fit in all, and how many documents are still to be read."""

    entities: tuple[Entity, ...]
    total: int
    pending: int = 0


@dataclass(frozen=True, slots=True)
class EntityPage:
    """What documents say of an entity: sentences, what it is to others, most documents."""

    entity: Entity
    sentences: tuple[EntitySentence, ...]
    related: tuple[RelatedEntity, ...]
    documents: tuple[NamingDocument, ...] = ()
    pending: int = 0

    @property
    def related_by_sentence(self) -> list[list[RelatedEntity]]:
        """The related ones, those of one sentence together, each group where its first stands."""
        groups: dict[EntitySentence, list[RelatedEntity]] = {}
        for one in self.related:
            groups.setdefault(one.evidence, []).append(one)
        return list(groups.values())


@dataclass(frozen=True, slots=True)
class EntityPath:
    """A shortest way from one entity to another, each step with a sentence that names both.

    ``steps`` are empty where there is none of at most three.
    """

    source: Entity
    target: Entity
    steps: tuple[RelatedEntity, ...]
    pending: int = 0
