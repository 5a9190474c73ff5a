"""Councils on the page: convened, watched as their members speak, read afterwards."""

from typing import Final

from chapterhouse.interfaces.web.frame import page_router

councils: Final = page_router()
