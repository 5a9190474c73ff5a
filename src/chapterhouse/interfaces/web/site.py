"""All pages: each module adds its own to the router of the frame."""

from typing import Final

from chapterhouse.interfaces.web import (  # noqa: F401
    agents,
    asking,
    councils,
    documents,
    history,
    jobs,
    lab,
    library,
    sessions,
    settings,
    sources,
)
from chapterhouse.interfaces.web.frame import pages

PAGES: Final = (pages,)
