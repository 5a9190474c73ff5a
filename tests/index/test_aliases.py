"""The index of names: a contract like that of the others, and what it finds."""

import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.errors import CorruptLibraryError
from chapterhouse.index.aliases import AliasIndex
from chapterhouse.index.document_names import Vocabulary
from chapterhouse.index.state import writer_lock
from chapterhouse.retrieval.expand import by_names
from chapterhouse.retrieval.question import parse_question
from chapterhouse.store.sqlite import Store
from chapterhouse.text.mentions import edit_cost
from chapterhouse.types import Query, Scope

EVERYTHING = Scope.everything()

Put = Callable[..., str]
WHO = "The World Health Organization (WHO) met."


@pytest.fixture
def index(tmp_path: Path) -> Iterator[AliasIndex]:
    with closing(AliasIndex(tmp_path / "names", wait_seconds=0.5)) as opened:
        yield opened


def found(index: AliasIndex, name: str, *shelves: str) -> list[str]:
    return [alias.other for alias in index.find([name], Scope(tuple(shelves) or None))]


def test_names_are_found_in_both_directions_and_go_with_their_documents(
    index: AliasIndex, store: Store, put: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert index.catch_up(store) == index.size() == 0
    put("a", WHO)
    assert index.catch_up(store) == store.sequence() == 1
    assert found(index, "who") == ["World Health Organization"]
    assert found(index, "world  HEALTH organization") == ["WHO"]
    assert found(index, "health") == []
    put("b", "The Harbour Board (HB) met.")
    index.catch_up(store)
    assert index.size() == 4
    with monkeypatch.context() as patch:
        patch.setattr(AliasIndex, "version", 99)  # another finds them again
        assert index.sequence() == 0
        assert index.catch_up(store) == 2
        assert index.size() == 4
        put("a", "Nothing is named here.")
        store.remove("b")
        assert index.catch_up(store) == store.sequence()
        assert index.size() == 0


def test_what_most_documents_say_comes_first(index: AliasIndex, store: Store, put: Put) -> None:
    put("a", "The Aal Amp Board (AAB).")
    put("b", "The Zinc Amp Board (AAB). A Zed Air Band (ZAB).")
    put("c", "Our Amber Air Board (AAB). The Amber Air Board (AAB).")
    put("d", "Our Amber Air Board (AAB).")
    index.catch_up(store)
    assert found(index, "AAB")[:2] == ["Amber Air Board", "Aal Amp Board"]
    assert index.find(["AAB"], EVERYTHING, 1)[0].other == "Amber Air Board"


def test_only_documents_on_the_asked_shelves_give_names(
    index: AliasIndex, store: Store, put: Put
) -> None:
    put("a", WHO, shelves=("crew",))
    put("b", "The World Heritage Office (WHO) met.", shelves=("guests", "library"))
    index.catch_up(store)
    assert found(index, "WHO", "crew") == ["World Health Organization"]
    assert found(index, "WHO", "guests") == ["World Heritage Office"]
    assert sorted(found(index, "WHO", "crew", "library")) == [
        "World Health Organization", "World Heritage Office",
    ]  # fmt: skip
    assert found(index, "WHO", "nobody") == []
    assert len(found(index, "WHO")) == 2
    store.set_shelves("a", ("office",))
    index.catch_up(store)
    assert found(index, "WHO", "crew") == []
    assert found(index, "WHO", "office") == ["World Health Organization"]


def test_a_name_from_another_shelf_never_expands_a_question(
    index: AliasIndex, store: Store, put: Put
) -> None:
    put("a", "The Secret Ferry Plan (SFP) is ready.", shelves=("crew",))
    put("b", "Guests may read this.", shelves=("guests",))
    index.catch_up(store)
    expand = by_names(index.find)
    question = parse_question("What is the SFP?", {"en": 2})
    assert expand(question, Query("q", scope=Scope.of(("guests",))), {"en": 2}) == ()
    (variant,) = expand(question, Query("q", scope=Scope.of(("crew",))), {"en": 2})
    assert variant.note == "SFP: Secret Ferry Plan"


def test_two_share_one_folder(tmp_path: Path, store: Store, put: Put) -> None:
    with (
        closing(AliasIndex(tmp_path / "names")) as one,
        closing(AliasIndex(tmp_path / "names")) as other,
    ):
        for number in range(6):
            put(f"d{number}", f"The Harbour Board{number} (HB).")
        threads = [threading.Thread(target=each.catch_up, args=(store,)) for each in (one, other)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert one.sequence() == other.sequence() == 6
        assert one.size() == other.size() == 12
        store.remove("d0")
        one.catch_up(store)
        assert other.size() == 10


def test_it_does_not_wait_for_ever_for_another_writer(
    index: AliasIndex, store: Store, put: Put, tmp_path: Path
) -> None:
    put("a", WHO)
    index.sequence()  # makes the folder
    with writer_lock(tmp_path / "names", 0.1) as held:
        assert held
        assert index.catch_up(store) == 0
    assert index.catch_up(store) == 1


def test_garbage_is_told_and_replaced_when_the_index_is_rebuilt(
    tmp_path: Path, store: Store, put: Put
) -> None:
    put("a", WHO)
    (tmp_path / "names").mkdir()
    (tmp_path / "names" / "aliases.db").write_bytes(b"this is no database at all " * 100)
    with closing(AliasIndex(tmp_path / "names")) as index:
        with pytest.raises(CorruptLibraryError) as raised:
            index.sequence()
        assert str(tmp_path / "names" / "aliases.db") in str(raised.value.hint)
        assert index.rebuild(store) == 1
        assert index.size() == 2
        assert not index.differing(store, thorough=True)


def test_a_torn_file_is_a_clear_error_until_it_is_rebuilt(
    tmp_path: Path, store: Store, put: Put
) -> None:
    for number in range(60):
        put(f"d{number}", f"The Harbour Board{number} (HB). The World Health{number} Office (WHO).")
    with closing(AliasIndex(tmp_path / "names")) as index:
        index.catch_up(store)
    path = tmp_path / "names" / "aliases.db"
    size = path.stat().st_size
    with path.open("r+b") as stream:  # the first page stays, what follows is noise
        stream.seek(4096)
        stream.write(b"\xa5" * (size - 4096))
    with closing(AliasIndex(tmp_path / "names")) as index:
        with pytest.raises(CorruptLibraryError, match="names"):
            index.find(["HB"], EVERYTHING)
        index.rebuild(store)
        assert index.find(["HB"], EVERYTHING)


def test_many_may_make_the_same_new_file_at_once(tmp_path: Path) -> None:
    failures: list[BaseException] = []

    def open_new(folder: Path) -> None:
        try:
            with closing(AliasIndex(folder)) as index:
                index.sequence()
        except apsw.Error as error:
            failures.append(error)

    for number in range(25):
        folder = tmp_path / str(number)
        threads = [threading.Thread(target=open_new, args=(folder,)) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not failures


def test_documents_are_found_by_title_file_and_other_names(
    index: AliasIndex, store: Store, put: Put
) -> None:
    one = put("refund-policy", "Also known as: Money Back Rules", title="Refunds (2025)")
    put("b", "No other name.", title="Harbour Rules", shelves=("port",))
    index.catch_up(store)
    for name in ("refunds 2025", "refunds", "refund policy", "money back rules"):
        assert index.find_titled([name], EVERYTHING) == {name: [one]}
    assert index.find_titled(["harbour rules"], Scope.of(["library"])) == {}
    assert list(index.find_titled(["harbour rules", "refunds"], Scope.of(["port"]))) == [
        "harbour rules"
    ]
    store.remove(one)
    index.catch_up(store)
    assert index.find_titled(["refunds", "refund policy"], EVERYTHING) == {}


def test_a_name_that_many_documents_share_finds_none(
    index: AliasIndex, store: Store, put: Put
) -> None:
    documents = [put(f"d{number}", "Text.", title="Annual Report") for number in range(3)]
    index.catch_up(store)
    found = {"annual report": sorted(documents)}
    assert index.find_titled(["annual report"] * 2, EVERYTHING) == found
    put("d3", "Text.", title="Annual Report")
    index.catch_up(store)
    assert index.find_titled(["annual report"], EVERYTHING) == {}


def test_words_near_a_misspelled_one_are_found(index: AliasIndex, store: Store, put: Put) -> None:
    assert index.near_words("waranty", EVERYTHING) == {}
    put("a", "The warranty covers it.", title="Harbour Rules")
    index.catch_up(store)
    assert set(index.near_words("waranty", EVERYTHING)) == {"warranty"}
    assert set(index.near_words("harbuor", EVERYTHING)) == {"harbour"}
    put("b", "Warrants are issued.")
    index.catch_up(store)
    assert set(index.near_words("warants", EVERYTHING)) == {"warrants"}


def test_what_a_document_may_mention_is_told_by_its_text_title_and_path(
    index: AliasIndex, store: Store, put: Put
) -> None:
    text = "The cafés close, see dock-b7-north."
    put("tides/osk_2025", text, title="Harbour Rules", shelves=("port",))
    index.catch_up(store)
    for word in ("café", "harbours", "rule", "tide", "Osk", "2025", "B7"):
        assert index.may_mention(word, EVERYTHING)
        assert not index.may_mention(word, Scope.of(["library"]))
    assert not index.may_mention("zeppelin", EVERYTHING)


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM alias",
        "UPDATE alias SET other = 'Odd'",
        "DELETE FROM titled",
        "DELETE FROM shelf_word",
        "UPDATE membership SET shelf = 'odd'",
        "INSERT INTO titled VALUES ('odd', 'nobody')",
        "INSERT INTO membership VALUES ('nobody', 'library')",
    ],
)
def test_names_that_differ_from_the_texts_are_found_until_rebuilt(
    tmp_path: Path, store: Store, put: Put, statement: str
) -> None:
    put("a", WHO)
    with closing(AliasIndex(tmp_path / "names")) as index:
        index.catch_up(store)
        assert not index.differing(store, thorough=True)
        index._open().execute(statement)
        assert index.differing(store, thorough=True)
        index.rebuild(store)
        assert not index.differing(store, thorough=True)


WORDS = st.text(alphabet="abcdeé", min_size=4, max_size=10)


@given(st.sets(WORDS, max_size=30), WORDS)
def test_the_filters_lose_no_near_word(words: set[str], written: str) -> None:
    costs = {word: edit_cost(written, word) for word in words - {written}}
    near = {word: cost for word, cost in costs.items() if cost is not None}
    vocabulary = Vocabulary("\n".join(sorted(words)))
    assert vocabulary.near(written) == near
    assert len(vocabulary) == len(words)
