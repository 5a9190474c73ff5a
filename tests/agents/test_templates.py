from pathlib import Path

import pytest

from chapterhouse.agents import persona
from chapterhouse.agents.templates import PERSONA_TEMPLATES
from chapterhouse.store.definitions import FolderDefinitions


@pytest.mark.parametrize("template", PERSONA_TEMPLATES)
def test_every_template_makes_a_persona(
    personas: FolderDefinitions, tmp_path: Path, template: str
) -> None:
    made = persona.create(personas, "maria", display_name="María {x}", template=template)
    assert made.prose.startswith("# María {x}")
    assert "{display_name}" not in made.prose
