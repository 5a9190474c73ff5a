"""Documents by folder: listed, received, removed; sources, drives and jobs."""

from typing import Final

from chapterhouse.interfaces.web.frame import page_router

library: Final = page_router()
