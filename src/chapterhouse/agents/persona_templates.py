"""What a new persona starts from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from typing import Any, Final

from chapterhouse.errors import NotFoundError


@dataclass(frozen=True, slots=True)
class Template:
    """A beginning: prose to fill in, and what its configuration says beside the usual.

    Attributes:
        name: As ``persona new --template`` calls it; ``template_texts/NAME.md`` holds the prose.
        purpose: What it is for, in a few words.
        settings: Values by key of the configuration.
    """

    name: str
    purpose: str
    settings: Mapping[str, Any] = field(default_factory=dict)


TEMPLATES: Final = {
    template.name: template
    for template in (
        Template("expert", "answers questions of a field"),
        Template("advisor", "recommends, and says what is against it", {"answer": {"words": 200}}),
        Template("archivist", "quotes what the papers say", {"answer": {"words": 120}}),
        Template("teacher", "explains a field to newcomers", {"answer": {"words": 160}}),
        Template("blank", "nothing but a heading"),
    )
}
DEFAULT_TEMPLATE: Final = "expert"


def template_named(name: str) -> Template:
    """Return a template.

    Raises:
        NotFoundError: there is none of this name.
    """
    template = TEMPLATES.get(name)
    if template is None:
        raise NotFoundError(
            f"There is no template '{name}'.", hint=f"There are: {', '.join(TEMPLATES)}."
        )
    return template


def prose_of(template: Template, display_name: str) -> str:
    """Return the prose of a new persona."""
    texts = resources.files("chapterhouse.agents").joinpath("template_texts")
    prose = texts.joinpath(f"{template.name}.md").read_text("utf-8")
    return prose.replace("{display_name}", display_name)
