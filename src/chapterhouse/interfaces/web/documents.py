"""A document on the page: its text at a passage, its pages, its chunks, its versions."""

from typing import Final

from chapterhouse.interfaces.web.frame import page_router

documents: Final = page_router()
