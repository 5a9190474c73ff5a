"""What a new persona and a new council start from; ``template_texts`` holds their words."""

from collections.abc import Collection, Mapping
from importlib import resources
from typing import Any, Final

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
COUNCIL_TEMPLATES: Final = ("contracts", "versions", "literature", "decision", "red-team")
DEFAULT_COUNCIL_TEMPLATE: Final = "decision"


def require_template(name: str, known: Collection[str]) -> None:
    """Check that there is a template of this name."""
    if name not in known:
        raise NotFoundError(
            f"There is no template '{name}'.", hint=f"There are: {', '.join(known)}."
        )


def prose_from(template: str, display_name: str) -> str:
    """Return the prose of a new persona."""
    return template_text(f"{template}.md").replace("{display_name}", display_name)


def template_text(name: str) -> str:
    """Return a file of ``template_texts``."""
    texts = resources.files("chapterhouse.agents").joinpath("template_texts")
    return texts.joinpath(name).read_text("utf-8")
