"""All pages, in the order in which an address is looked for."""

from typing import Final

from chapterhouse.interfaces.web import (
    agents,
    asking,
    councils,
    documents,
    frame,
    jobs,
    lab,
    library,
    sessions,
    settings,
    sources,
)

PAGES: Final = (
    frame.assets,
    sessions.sessions,
    asking.asking,
    library.library,
    jobs.jobs,
    sources.sources,
    documents.documents,
    councils.councils,
    agents.agents,
    settings.settings,
    lab.lab,
)
