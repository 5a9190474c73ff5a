"""Who answers, and the names of the files that define them."""

from dataclasses import dataclass
from typing import Final

# A folder that holds one of these defines a persona, or a council.
CONFIG_FILE: Final = "persona.config.json"
PROSE_FILE: Final = "persona.md"
RAW: Final = "RAW-DOCS"  # files as they came
RAG: Final = "RAG"  # curated Markdown, which is what is indexed
PERSONA_MARKS: Final = (CONFIG_FILE, PROSE_FILE, RAW, RAG)
COUNCIL_FILE: Final = "council.json"
DOCS: Final = "docs"  # documents that are the council's own
COUNCIL_MARKS: Final = (COUNCIL_FILE, DOCS)


@dataclass(frozen=True, slots=True)
class Persona:
    """Someone who answers from documents of their own.

    Attributes:
        slug: Name in kebab case; also the name of their shelf.
        prose: Who they are, in their owner's words.
        expertise: Their field in one or two sentences.
        shelves: Further shelves that they read, beside their own.
    """

    slug: str
    display_name: str
    prose: str = ""
    tags: tuple[str, ...] = ()
    key_terms: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    expertise: str = ""
    shelves: tuple[str, ...] = ()

    @property
    def reads(self) -> tuple[str, ...]:
        """The shelves that they read, their own first."""
        return tuple(dict.fromkeys((self.slug, *self.shelves)))
