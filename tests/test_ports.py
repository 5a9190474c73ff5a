"""Seams are small."""

import inspect
from importlib import import_module
from pkgutil import iter_modules

import pytest

from chapterhouse import ports

PROTOCOLS = [
    found
    for module in iter_modules(ports.__path__, f"{ports.__name__}.")
    for _, found in inspect.getmembers(import_module(module.name), inspect.isclass)
    if found.__module__ == module.name
]


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda found: found.__name__)
def test_a_seam_has_at_most_eight_methods_of_its_own(protocol: type) -> None:
    own = [name for name in vars(protocol) if not name.startswith("_")]
    assert len(own) <= 8
