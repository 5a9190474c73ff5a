"""What a server is set to: models, settings, keys, people, workspaces, health."""

from typing import Final

from chapterhouse.interfaces.web.frame import page_router

settings: Final = page_router()
