"""Answers need a library to be asked."""

from tests.rooms import harbour, room

__all__ = ["harbour", "room"]
