"""Memories: kept apart by persona, forgotten without a trace, never a document."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.databases import NewPlace

from chapterhouse import Library
from chapterhouse.errors import NotFoundError, UsageError
from chapterhouse.store.blobs import Blobs
from chapterhouse.store.memory import MemoryStore
from chapterhouse.store.sqlite import Store
from chapterhouse.types import Memory, Scope

EVERYTHING = Scope.everything()

NOW = 1_000_000


def memory(
    question: str = "How fast?",
    answer: str = "4 knots.",
    *,
    persona: str = "maria",
    asked: int = NOW,
    expires: int = 0,
    found: bool = True,
    sources: tuple[str, ...] = ("rules-1",),
) -> Memory:
    return Memory("", persona, asked, expires, question, answer, found, "extractive", sources, 7)


def ids(found: Sequence[Memory]) -> list[str]:
    return [one.id for one in found]


@pytest.fixture
def memories(store: Store) -> MemoryStore:
    return store.memories()


# --- contract --------------------------------------------------------------------------------


def test_a_memory_comes_back_as_it_was_with_an_id(memories: MemoryStore) -> None:
    one = memory(
        "Why?\nSo?", "Because “x” [1].", found=False, sources=("b-2", "a-1"), expires=NOW + 1
    )
    kept = memories.remember(one)
    assert kept.id == "m1"
    assert memories.memories(["maria"], 10, NOW) == (kept,)
    assert kept == Memory(**{**_fields(one), "id": "m1"})
    assert memories.get("m1", ["maria"], NOW) == (kept, "")
    whole = memories.remember(one, '{"a": 1}')
    assert memories.get(whole.id, ["", "maria"], NOW)[1] == '{"a": 1}'
    for personas, now in ((["maria"], NOW + 1), (["jonas", ""], NOW), ([], NOW)):
        with pytest.raises(NotFoundError, match="m1"):  # expired, or another's
            memories.get("m1", personas, now)


def _fields(one: Memory) -> dict[str, Any]:
    return {name: getattr(one, name) for name in Memory.__dataclass_fields__}


def test_the_newest_comes_first_and_an_id_is_never_given_again(memories: MemoryStore) -> None:
    for number in range(5):
        memories.remember(memory(f"Question {number}?", asked=NOW - number))
    assert ids(memories.memories(["maria"], 3, NOW)) == ["m5", "m4", "m3"]
    memories.forget(["m5"])
    for persona in ("maria", "", "jonas"):
        memories.remember(memory(persona=persona))
    assert ids(memories.memories(["maria"], 1, NOW)) == ["m6"]
    assert memories.personas() == ("", "jonas", "maria")
    assert memories.count(["maria"]) == 5
    assert memories.count([]) == 0
    assert memories.memories([], 10, NOW) == ()
    for _ in range(2):
        memories.remember(memory("Slow?", persona="nina"))  # equal ones have a fixed order
    found = memories.search("slow", ["nina"], 10, NOW)
    assert [hit.memory.id for hit in found] == ["m10", "m9"]


def test_what_was_asked_counts_double(memories: MemoryStore) -> None:
    memories.remember(memory("What is a quay?", "A berth beside others, so to say."))
    memories.remember(memory("What is a berth?", "A quay beside others, so to say."))
    for _ in range(8):
        memories.remember(memory("Who paints the fence?", "Nobody paints it, so to say."))
    assert [hit.memory.id for hit in memories.search("berth", ["maria"], 10, NOW)] == ["m2", "m1"]
    scores = [hit.score for hit in memories.search("berth", ["maria"], 10, NOW)]
    assert scores[0] > scores[1]


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("How do vessels moor? With ropes.", "mooring of a vessel"),
        ("Wie schnell fahren Schiffe im Hafen?", "Geschwindigkeit der Schiffe im Hafen"),
        ("港口的限速是多少？", "港口限速"),
        ("港の制限速度は？", "制限速度"),
        ("Четыре узла разрешены судам в гавани, если нет тумана.", "гаваней"),
        ("Où est l'écluse ? À côté du quai.", "écluses"),
        ("ما هي سرعة السفينة؟", "سرعة السفينة"),
        ("बंदरगाह की गति क्या है?", "बंदरगाह की गति"),
        ("What does ERR-4012 mean?", "ERR-4012"),
        ("What does a berth cost? It costs 80 euros at the quay.", "costing berths"),
    ],
)
def test_memories_are_found_in_their_language(
    memories: MemoryStore, question: str, asked: str
) -> None:
    memories.remember(memory("Who paints the fence?", "Nobody paints it."))
    kept = memories.remember(memory(question, ""))
    assert [hit.memory.id for hit in memories.search(asked, ["maria"], 1, NOW)] == [kept.id]


WORDS_FOR_SEARCH = ["", " ", "?!", '"', "'", 'a" OR "b', "NEAR(a b)", "a*", "*", "question:x"]
WORDS_FOR_SEARCH += ["a AND b", "NOT a", "(", "\x00", "a\x00b", "^a", "{a}", "-a", "?", "𞤀𞤁"]
WORDS_FOR_SEARCH += ["x" * 20_000, "'; DROP TABLE memory; --"]


def test_no_words_break_the_search(memories: MemoryStore) -> None:
    for number, text in enumerate(WORDS_FOR_SEARCH, 1):
        memories.search(text, ["maria"], 10, NOW)
        memories.remember(memory(text, text))
        assert memories.count(["maria"]) == number


# --- expiry ----------------------------------------------------------------------------------


def test_what_has_expired_is_not_shown_and_deleted_with_the_next_memory(
    memories: MemoryStore,
) -> None:
    memories.remember(memory(expires=NOW + 10, persona="jonas"))
    for now, shown in ((NOW, 1), (NOW + 9, 1), (NOW + 10, 0), (NOW + 10**9, 0)):
        assert len(memories.memories(["jonas"], 10, now)) == shown
        assert len(memories.search("fast", ["jonas"], 10, now)) == shown
    memories.remember(memory("Later?", asked=NOW + 20))
    assert memories.personas() == ("maria",)
    assert memories.search("fast", ["jonas"], 10, 0) == ()


# --- apart -----------------------------------------------------------------------------------

PERSONAS = st.sampled_from(["", "maria", "jonas", "nina"])
WORDS = st.lists(
    st.sampled_from(["berth", "gate", "knots", "tide", "ramp"]), min_size=1, max_size=4
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(PERSONAS, WORDS), max_size=8), st.lists(PERSONAS, max_size=3), WORDS)
def test_nobody_sees_what_another_was_asked(
    tmp_path_factory: pytest.TempPathFactory,
    new_place: NewPlace,
    asked: list[tuple[str, list[str]]],
    who: list[str],
    words: list[str],
) -> None:
    with new_place(tmp_path_factory.mktemp("memories"))() as store:
        memories = store.memories()
        kept = [
            memories.remember(memory(" ".join(said), "So.", persona=persona))
            for persona, said in asked
        ]
        expected = {one.id for one in kept if one.persona in who}
        fitting = {
            one.id for one in kept if one.persona in who and set(one.question.split()) & set(words)
        }
        assert set(ids(memories.memories(who, 100, NOW))) == expected
        found = memories.search(" ".join(words), who, 100, NOW)
        assert {hit.memory.id for hit in found} == fitting
        assert memories.count(who) == len(expected)
        assert memories.forget_all(who) == len(expected)
        left = [one.id for one in reversed(kept) if one.id not in expected]
        assert ids(memories.memories(["", "maria", "jonas", "nina"], 100, NOW)) == left


# --- forgetting ------------------------------------------------------------------------------


def test_forgetting_is_all_or_nothing(memories: MemoryStore) -> None:
    memories.remember(memory())
    memories.cache_answer("key", EVERYTHING, 1, "{}")
    with pytest.raises(NotFoundError, match="'m9'"):
        memories.forget(["m1", "m9"])
    for name in ("", "m", "x1", "m-1", "m1.0", "1 OR 1=1", "m" + "9" * 30, "m１"):
        with pytest.raises(UsageError, match="no id of a memory"):
            memories.forget([name])
    assert memories.count(["maria"]) == 1
    assert memories.forget(["m1", "1", " m1 "]) in {1, 2, 3}
    assert memories.count(["maria"]) == 0
    assert memories.cached_answer("key", EVERYTHING) is None  # goes with what is forgotten


def test_old_ones_are_forgotten_by_their_age(memories: MemoryStore) -> None:
    for asked in (10, 20, 30):
        memories.remember(memory(asked=asked))
    assert memories.count(["maria"], 20) == 1
    assert memories.forget_all(["maria"], 20) == 1
    assert ids(memories.memories(["maria"], 10, NOW)) == ["m3", "m2"]


def files_with(folder: Path, canary: str) -> list[str]:
    return [
        path.name
        for path in sorted(folder.rglob("*"))
        if path.is_file() and canary.encode() in path.read_bytes()
    ]


FORGET: list[Callable[[MemoryStore], object]] = [
    lambda memories: memories.forget(["m7"]),
    lambda memories: memories.forget_all(["maria"]),
    lambda memories: memories.remember(memory("Next?", asked=NOW + 100)),
]


@pytest.mark.parametrize(
    ("forget", "size"), [(FORGET[0], 4_000), (FORGET[1], 1), (FORGET[2], 4_000)]
)
def test_what_is_forgotten_leaves_no_bytes(
    tmp_path: Path, forget: Callable[[MemoryStore], object], size: int
) -> None:
    question, answer = "zorblaqueq", "wibblufexx"
    path = tmp_path / "library.db"
    with Store(path, blobs=Blobs(tmp_path / "blobs")) as store:
        memories = store.memories()
        for _ in range(6):
            memories.remember(memory("Other?", persona="jonas"))
        memories.remember(
            memory(f"{question} is it? " * size, f"{answer}. " * size, expires=NOW + 50)
        )
        for _ in range(20):
            memories.remember(memory("Another one?", persona="jonas", asked=NOW + 1))
        memories.cache_answer(
            "key", EVERYTHING, 1, f'{{"question": "{question}", "answer": "{answer}"}}' * size
        )
    assert files_with(tmp_path, question) == ["library.db"]
    with Store(path, blobs=Blobs(tmp_path / "blobs")) as store:
        forget(store.memories())
        if forget is FORGET[2]:  # of a later state of the library
            store.memories().cache_answer("key", EVERYTHING, 2, "{}")
    assert files_with(tmp_path, question) == []
    assert files_with(tmp_path, answer) == []


# --- kept answers ----------------------------------------------------------------------------


def test_an_answer_is_kept_until_the_library_changes(memories: MemoryStore) -> None:
    for key, text in (("a", "one"), ("b", "two"), ("a", "three")):
        memories.cache_answer(key, EVERYTHING, 1, text)
    assert [memories.cached_answer(key, EVERYTHING) for key in "abc"] == ["three", "two", None]
    memories.cache_answer("c", EVERYTHING, 2, "four")
    assert [memories.cached_answer(key, EVERYTHING) for key in "abc"] == [None, None, "four"]
    memories.forget_all(["maria"])
    assert memories.cached_answer("c", EVERYTHING) is None


# --- the file --------------------------------------------------------------------------------


def test_a_memory_is_no_document(library: Library) -> None:
    for _ in range(3):
        library.memory.remember(
            memory("Where is the zorblaquex?", "The zorblaquex hides under the quay.", persona="")
        )
    before = library.status()
    for question in ("Where is the zorblaquex?", "zorblaquex", "zorblaquex harbour"):
        found = library.search.hits(question)
        assert all("zorblaquex" not in hit.chunk.text for hit in found.hits)
        assert "hides" not in repr(found) + repr(library.search.context(question))
        assert "hides" not in repr(library.answers.ask(question, remember=False))
    library.reindex()
    assert (library.status().sequence, library.status().documents) == (before.sequence, 3)


# --- scopes ----------------------------------------------------------------------------------


def test_what_others_were_asked_moves_no_score(memories: MemoryStore) -> None:
    memories.remember(memory("What is a quay?", "A berth beside others, so to say."))
    memories.remember(memory("What is a berth?", "A quay."))
    for _ in range(4):
        memories.remember(memory("Who paints the fence?", "Nobody paints it, so to say."))
    alone = memories.search("berth at the quay", ["maria"], 10, NOW)
    for _ in range(30):
        memories.remember(memory("Berth, quay, berth?", "Berth. " * 40, persona="jonas"))
    assert memories.search("berth at the quay", ["maria"], 10, NOW) == alone
    assert len(memories.search("berth at the quay", ["jonas", "maria"], 100, NOW)) > len(alone)


def test_a_kept_answer_belongs_to_its_scope(memories: MemoryStore) -> None:
    crew = Scope.of(["crew"])
    memories.cache_answer("key", crew, 1, "theirs")
    memories.cache_answer("key", EVERYTHING, 1, "all")
    scopes = (crew, EVERYTHING, Scope.of(["guests"]), Scope.of(()))
    found = [memories.cached_answer("key", scope) for scope in scopes]
    assert found == ["theirs", "all", None, None]


def test_an_answer_from_before_a_removal_is_not_kept(store: Store, make_parts: Any) -> None:
    name = store.put(*make_parts())
    before = store.sequence()
    store.remove(name)
    memories = store.memories()
    memories.cache_answer("key", EVERYTHING, before, "It quotes what was removed.")
    assert memories.cached_answer("key", EVERYTHING) is None
    memories.cache_answer("key", EVERYTHING, store.sequence(), "It does not.")
    assert memories.cached_answer("key", EVERYTHING) == "It does not."
