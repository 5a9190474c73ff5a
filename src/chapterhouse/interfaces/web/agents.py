"""Personas and councils made and changed as forms."""

from typing import Final

from chapterhouse.interfaces.web.frame import page_router

agents: Final = page_router()
