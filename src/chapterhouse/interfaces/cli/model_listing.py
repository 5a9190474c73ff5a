"""What there is to choose from: language models that can be reached, and encoders."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from chapterhouse.library import Library
from chapterhouse.models.cards import Card, known_cards
from chapterhouse.models.discovery import find_servers
from chapterhouse.models.providers import HOSTED, Hosted, key_of, server_of
from chapterhouse.models.servers import ServedModel, Server, usual_addresses
from chapterhouse.settings import LanguageModelSettings, Settings
from chapterhouse.types import EncoderStatus


@dataclass(frozen=True, slots=True)
class Listing:
    """What there is.

    Attributes:
        chosen: The language model that the settings name, if its engine is one.
        servers: Those that answer on this machine.
        hosted: Hosted services whose key is there, with where it is.
        encoders: Of the library; none where there is no library.
        cards: Encoders that are known.
    """

    chosen: LanguageModelSettings
    servers: tuple[Server, ...]
    hosted: tuple[tuple[Hosted, str], ...]
    encoders: tuple[EncoderStatus, ...]
    cards: tuple[Card, ...]

    def is_chosen(self, server: Server, model: ServedModel) -> bool:
        """Whether a model of a server is the one that the settings name."""
        here = server.address.partition("://")[2] == server_of(self.chosen).replace(
            "localhost", "127.0.0.1"
        )
        return here and server.model(self.chosen.model) == model

    @property
    def data(self) -> Mapping[str, object]:
        """What ``--json`` shows."""
        return {
            "language_model": self.chosen.model_dump(mode="json"),
            "servers": [
                {
                    "server": server.kind,
                    "address": server.address,
                    "base_url": server.base_url,
                    "slots": server.slots,
                    "problem": server.problem,
                    "models": [
                        {
                            "name": model.name,
                            "context_size": model.context,
                            "longest_context": model.longest,
                            "loaded": model.loaded,
                            "writes": model.writes,
                            "tools": model.tools,
                            "thinks": model.thinks,
                            "in_use": self.is_chosen(server, model),
                        }
                        for model in server.models
                    ],
                }
                for server in self.servers
            ],
            "hosted": [{"name": hosted.name, "key": key} for hosted, key in self.hosted],
            "encoders": self.encoders,
            "known": [card.model_dump(mode="json") for card in self.cards],
        }


def listing(home: Path, workspace: str, settings: Settings) -> Listing:
    """Look at this machine, at the keys, and at the library if there is one."""
    chosen = settings.language_model
    servers = find_servers(usual_addresses(os.environ, chosen.base_url))
    keys = ((hosted, key_of(hosted)) for hosted in HOSTED.values())
    encoders: tuple[EncoderStatus, ...] = ()
    if (home / "workspaces" / workspace / "library.db").exists():
        with Library.open(home, workspace, create=False) as library:
            encoders = library.encoders()
    return Listing(
        chosen,
        servers,
        tuple((hosted, source.name) for hosted, source in keys if source),
        encoders,
        known_cards(),
    )
