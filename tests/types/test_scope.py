import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.types import Scope

SHELVES = st.lists(st.text(min_size=1, max_size=4), max_size=5)


@given(SHELVES)
def test_the_same_shelves_are_the_same_scope(shelves: list[str]) -> None:
    scope = Scope.of(shelves)
    assert scope == Scope.of([*reversed(shelves), *shelves]) == Scope(tuple(shelves))
    assert scope.key == Scope.of(sorted(shelves)).key
    assert scope.shelves == tuple(sorted(set(shelves)))


@given(SHELVES, SHELVES)
def test_different_scopes_have_different_keys(one: list[str], other: list[str]) -> None:
    assert (Scope.of(one).key == Scope.of(other).key) == (set(one) == set(other))
    assert Scope.of(one).key != Scope.everything().key


@given(SHELVES, SHELVES)
def test_a_document_is_seen_on_any_of_the_shelves(shelves: list[str], own: list[str]) -> None:
    assert Scope.of(shelves).sees(own) == bool(set(shelves) & set(own))
    assert Scope.everything().sees(own)
    assert not Scope.of(()).sees(own)


def test_the_key_is_json_that_the_store_reads() -> None:
    assert json.loads(Scope.of(["ö", 'a"b']).key) == ['a"b', "ö"]
    assert json.loads(Scope.everything().key) is None


def test_one_name_is_no_list_of_shelves() -> None:
    with pytest.raises(TypeError, match="several shelves"):
        Scope.of("crew")
