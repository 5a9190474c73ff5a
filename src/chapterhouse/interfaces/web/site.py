"""All pages, in the order in which an address is looked for."""

from typing import Final

from chapterhouse.interfaces.web import (
    agents,
    asking,
    councils,
    documents,
    frame,
    graph,
    history,
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
    history.history,
    library.library,
    jobs.jobs,
    sources.sources,
    graph.graph,
    documents.documents,
    councils.councils,
    agents.agents,
    settings.settings,
    lab.lab,
)
