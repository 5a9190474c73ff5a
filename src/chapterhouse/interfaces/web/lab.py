"""One question under two settings, and evaluations."""

from typing import Final

from chapterhouse.interfaces.web.frame import page_router

lab: Final = page_router()
