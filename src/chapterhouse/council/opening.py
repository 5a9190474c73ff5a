"""The councils of an open library."""

from collections.abc import Callable
from typing import Final

from chapterhouse.agents.council_model import SEARCH_TOOLS
from chapterhouse.agents.councils import Councils, Means
from chapterhouse.agents.personas import House
from chapterhouse.settings import Settings
from chapterhouse.wiring import Engines, preparer

_FOLDER: Final = "councils"


def open_councils(
    house: House, engines: Engines, settings: Settings, catch_up: Callable[[], object]
) -> Councils:
    """Return the councils of a workspace; their folder stands beside that of its personas."""
    means = Means(
        store=engines.store,
        read=engines.pool.submit,
        prepare=lambda: preparer(settings, engines.embedder),
        catch_up=catch_up,
        settings=settings,
        house=house,
        tools=lambda: SEARCH_TOOLS,
    )
    return Councils(house.path.parent / _FOLDER, means)
