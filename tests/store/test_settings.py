"""Settings in a table: the latest change of a name holds."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.store.blobs import FolderBlobs
from chapterhouse.store.sqlite import SqliteStore
from chapterhouse.types import StoredSetting

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(-1, 1) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)


class _UndoneError(Exception):
    pass


@contextmanager
def _undone(store: SqliteStore) -> Iterator[None]:
    with suppress(_UndoneError), store.together():
        yield
        raise _UndoneError


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqliteStore]:
    folder = tmp_path_factory.mktemp("settings")
    with SqliteStore(folder / "library.db", blobs=FolderBlobs(folder)) as store:
        yield store


@given(steps=st.lists(st.tuples(st.sampled_from("abc"), st.none() | st.tuples(JSON)), max_size=12))
def test_the_table_is_a_dictionary(
    shared: SqliteStore, steps: list[tuple[str, tuple[object] | None]]
) -> None:
    known: dict[str, object] = {}
    with _undone(shared):  # each example begins with an empty table
        settings = shared.settings()
        for at, (name, change) in enumerate(steps):
            known.pop(name, None)
            if change is None:
                settings.reset(name, "ada", at)
            else:
                settings.write(name, change[0], "ada", at)
                known[name] = change[0]
            assert settings.sequence() == at + 1
        values = settings.values()
        assert {name: one.value for name, one in values.items()} == known
        assert list(values) == list(reversed(known))  # what was changed last first
    assert shared.settings().values() == {}


def test_a_value_that_is_no_json_is_read_as_it_is(store: SqliteStore, tmp_path: Path) -> None:
    store.settings().write("search.limit", 3, "ada", 1)
    connection = apsw.Connection(str(tmp_path / "library.db"))
    connection.execute("UPDATE setting_change SET value = '[' ")
    connection.close()
    assert store.settings().values() == {"search.limit": StoredSetting("[", 1, "ada")}
