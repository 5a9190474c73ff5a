"""Who answers."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Persona:
    """Someone who answers from documents of their own.

    Attributes:
        slug: Name in kebab case; also the name of their shelf.
        display_name: How they are called.
        prose: Who they are, in their owner's words.
        tags: What they know about.
        key_terms: Names and terms of their field.
        aliases: Other names of things in their field.
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
