"""Sources are kept as they are, and documents are trusted as far as their sources."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.databases import NewPlace, OpenStore

from chapterhouse.store.sources import TrustLevels, read_trust
from chapterhouse.store.sqlite import Store
from chapterhouse.types import Source, SourceKind, StoredSetting, Trust


def test_sources_are_saved_replaced_and_dropped(open_store: OpenStore) -> None:
    one = Source("b", SourceKind.CLOUD, "drive:Papers", "other", ("*.pdf",), ("old/",), 5, 6, "x")
    two = Source("a", SourceKind.FOLDER, "/a", problem="It is away.")
    with open_store() as store:
        sources = store.sources()
        sources.save(one)
        sources.save(two)
        assert sources.sources() == (two, one)
        sources.save(Source("a", SourceKind.FOLDER, "/b"))
        assert [entry.location for entry in sources.sources()] == ["/b", "drive:Papers"]
        sources.drop("a")
        sources.drop("none")
    with open_store() as store:
        assert store.sources().sources() == (one,)


FOLDER, LINKS, CLOUD = SourceKind.FOLDER, SourceKind.LINKS, SourceKind.CLOUD


def levels(open_store: OpenStore, *sources: Source, roots: dict[str, str]) -> TrustLevels:
    with open_store() as store:
        for source in sources:
            store.sources().save(source)
        for location, label in roots.items():
            assert store.label_root(location, label) == label
        with store._connections.read() as connection:
            return read_trust(connection)


def test_nothing_is_looked_up_where_all_is_the_users_own(open_store: OpenStore) -> None:
    found = levels(open_store, Source("a", FOLDER, "/a"), roots={"/a": "a"})
    assert found == TrustLevels()
    assert found.of("a/x.md") is Trust.OWN


@pytest.mark.parametrize(
    ("source", "trust"),
    [
        ("papers/x.md", Trust.SHARED),
        ("papers/mail/x.md", Trust.WEB),
        ("papers/mailing/x.md", Trust.SHARED),
        ("papers-2/x.md", Trust.OWN),
        ("reading-2/a.md", Trust.WEB),
        ("reading/a.md", Trust.OWN),
        ("Drive/a.md", Trust.EXTERNAL),
        ("upload/note-12345678.md", Trust.OWN),
        ("", Trust.OWN),
    ],
)
def test_the_innermost_source_counts(open_store: OpenStore, source: str, trust: Trust) -> None:
    found = levels(
        open_store,
        Source("papers", FOLDER, "/home/papers", trust=Trust.SHARED),
        Source("mail", FOLDER, "/home/papers/mail", trust=Trust.WEB),
        Source("reading", LINKS, "/home/reading.links", trust=Trust.WEB),
        Source("Drive", CLOUD, "gdrive:Drive", trust=Trust.EXTERNAL),
        roots={"/home/papers": "papers", "/w/pages/reading": "reading-2"},
    )
    assert found.of(source) is trust


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(-1, 1) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)


class _UndoneError(Exception):
    pass


@contextmanager
def _undone(store: Store) -> Iterator[None]:
    with suppress(_UndoneError), store.together():
        yield
        raise _UndoneError


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, new_place: NewPlace) -> Iterator[Store]:
    with new_place(tmp_path_factory.mktemp("settings"), "settings")() as store:
        yield store


@given(steps=st.lists(st.tuples(st.sampled_from("abc"), st.none() | st.tuples(JSON)), max_size=12))
def test_the_table_is_a_dictionary(
    shared: Store, steps: list[tuple[str, tuple[object] | None]]
) -> None:
    known: dict[str, object] = {}
    with _undone(shared):  # each example begins with an empty table
        settings = shared.settings()
        before = settings.sequence()
        for at, (name, change) in enumerate(steps):
            known.pop(name, None)
            if change is None:
                settings.reset(name, "ada", at)
            else:
                settings.write(name, change[0], "ada", at)
                known[name] = change[0]
            assert before < (before := settings.sequence())
        values = settings.values()
        assert {name: one.value for name, one in values.items()} == known
        assert list(values) == list(reversed(known))  # what was changed last first
    assert shared.settings().values() == {}


def test_a_value_that_is_no_json_is_read_as_it_is(store: Store) -> None:
    store.settings().write("search.limit", 3, "ada", 1)
    with store._connections.write() as connection:
        connection.execute("UPDATE setting_change SET value = '[' ")
    assert store.settings().values() == {"search.limit": StoredSetting("[", 1, "ada")}
