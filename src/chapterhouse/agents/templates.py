"""What a new persona and a new council start from; ``template_texts`` holds their words."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from importlib import resources
from typing import Any, Final

from chapterhouse.agents.council import Council, parse_council
from chapterhouse.agents.council_model import Member
from chapterhouse.errors import NotFoundError

# By name, with what the configuration of a new persona says beside the usual.
PERSONA_TEMPLATES: Final[Mapping[str, Mapping[str, Any]]] = {
    "expert": {},
    "advisor": {"answer": {"words": 200}},
    "archivist": {"answer": {"words": 120}},
    "teacher": {"answer": {"words": 160}},
    "blank": {},
}
DEFAULT_PERSONA_TEMPLATE: Final = "expert"
COUNCIL_TEMPLATES: Final = ("debate", "review", "blank")


def require_template(name: str, known: Collection[str]) -> None:
    """Check that there is a template of this name.

    Raises:
        NotFoundError: there is none.
    """
    if name not in known:
        raise NotFoundError(
            f"There is no template '{name}'.", hint=f"There are: {', '.join(known)}."
        )


def prose_from(template: str, display_name: str) -> str:
    """Return the prose of a new persona."""
    return _text(f"{template}.md").replace("{display_name}", display_name)


def council_from(
    template: str,
    slug: str,
    *,
    display_name: str = "",
    personas: Sequence[str] = (),
    folders: Sequence[str] = (),
) -> Council:
    """Return a council as a template begins it; personas take the place of its roles.

    Raises:
        NotFoundError: there is no template of this name.
    """
    require_template(template, COUNCIL_TEMPLATES)
    begun = parse_council(_text(f"{template}.json")).required().link(*folders)
    members = tuple(Member(persona=persona) for persona in personas) or begun.members
    return replace(begun, slug=slug, display_name=display_name, members=members)


def _text(name: str) -> str:
    texts = resources.files("chapterhouse.agents").joinpath("template_texts")
    return texts.joinpath(name).read_text("utf-8")
