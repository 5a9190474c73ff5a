from collections.abc import Callable
from typing import Any

from chapterhouse.store.sqlite import Store


def _spoil(store: Store, statement: str) -> None:
    with store._connections.write() as connection:
        connection.execute(statement)


def test_the_rows_of_a_document_have_their_checksum_until_one_changes(
    store: Store, make_parts: Callable[..., Any]
) -> None:
    name = store.put(*make_parts())
    examination = store.examination()
    assert examination.row_fault(name) == ""
    store.set_shelves(name, ("crew",))
    assert examination.row_fault(name) == ""
    _spoil(store, "UPDATE chunk SET page_label = 'odd' WHERE ordinal = 1")
    assert examination.row_fault(name)
    _spoil(store, "DELETE FROM checksum")  # as of a library of before
    assert examination.row_fault(name) == ""
    assert examination.row_fault("nobody") == ""


def test_keys_and_hashes_are_listed_by_document(
    store: Store, make_parts: Callable[..., Any]
) -> None:
    name = store.put(*make_parts())
    large = store.put(*make_parts("large", padding=100_000))
    examination = store.examination()
    assert examination.document_ids() == sorted([name, large])
    assert examination.chunk_keys() == {name: [1, 2, 3], large: [4, 5, 6]}
    inline = {one for one, there in examination.hashes().items() if there}
    large_too = store._connections.inline_maximum > 100_000
    assert len(inline) == (2 if large_too else 1)
