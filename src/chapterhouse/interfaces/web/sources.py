"""Sources and cloud drives on the page: what the library follows."""

from typing import Final

from chapterhouse.interfaces.web.frame import page_router

sources: Final = page_router()
