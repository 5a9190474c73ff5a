import asyncio
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.rooms import KNOTS, PRICE, RULES, SPEED, asked

from chapterhouse import Library
from chapterhouse.agents.ask import ask
from chapterhouse.answering.bundle import ANSWER, file_text, json_fields, read_held
from chapterhouse.answering.memory import answer_record, minutes_record
from chapterhouse.answering.request import AskOptions
from chapterhouse.errors import EngineError
from chapterhouse.interfaces.cli.envelope import plain
from chapterhouse.types import Answer, Minutes, QuestionOutcome, Route, Usage
from chapterhouse.types.analytics import DAY

GATE = "The gate closes at 21:30 from April to September."


OTHERWISE: tuple[dict[str, Any], ...] = (
    {"question": "How fast may a vessel go within the harbour?"}, {"persona": "jonas"},
    {"persona": ""}, {"tags": ("speed",)}, {"words": 60},
)  # fmt: skip


PERSONAS = (
    {"display_name": "Mary"}, {"tags": "tides"}, {"retrieval.max_chunks": "3"},
    {"retrieval.max_tokens": "900"}, {"grounding": "both"}, {"out_of_scope": "general"},
    {"shelves": '["jonas"]'},
)  # fmt: skip


FILES = (
    ("maria/persona.md", "She is gruff."), ("maria/RAG/tide.md", "# Tide\n\nHigh.\n"),
    ("maria/RAG/rules.md", RULES.replace("21:30", "22:30")), ("jonas/RAG/x.md", "# X\n\nY is.\n"),
)  # fmt: skip


def is_kept(harbour: Any) -> None:
    """Have an answer written, unless it is, and kept."""
    harbour.says(KNOTS, "Other.")
    written(harbour)
    assert written(harbour).cached


def test_question_and_answer_are_remembered_under_who_answered(harbour: Any) -> None:
    answer = asked(harbour, f"  {SPEED} ")
    asked(harbour, SPEED, "")
    memories = harbour.library.memory
    (kept,) = memories.memories(["maria"], 9, harbour.time)
    assert kept.question == SPEED
    assert kept.answer == answer.text
    assert kept.asked == harbour.time
    assert kept.expires == harbour.time + 365 * 86_400
    assert kept.sources == tuple({citation.document_id for citation in answer.citations})
    assert memories.personas() == ("", "maria")


def test_what_is_remembered_names_no_document_that_it_does_not_cite(tmp_path: Path) -> None:
    (tmp_path / "tolls.md").write_text("# Tolls\n\nThe toll of the bridge is four crowns a car.\n")
    (tmp_path / "lock.md").write_text("# Lock keeping\n\nThe toll of the lock is six crowns.\n")
    with Library.open(tmp_path / "home") as library:
        library.documents.add(tmp_path)
        for question, cited in (
            ("What is the toll of the bridge for a car?", ["Tolls"]),
            ("Which insurance premium covers the toll collector in Peru?", []),
        ):
            given = library.answers.ask(question, remember=True)
            assert [one.title for one in given.citations] == cited
            assert "Lock keeping" in given.searched.nearest
            now = int(time.time())
            (latest,) = library.memory.memories([""], 1, now)
            _, whole = library.memory.get(latest.id, [""], now)
            assert question in whole
            assert "Lock keeping" not in whole
            assert ("Tolls" in whole) == bool(cited)


def test_a_memory_lasts_as_long_as_is_said_and_holds_so_much(harbour: Any) -> None:
    harbour.library.personas.change("maria", {"memory.days": "0"})
    harbour.says("It is windy. " * 2_000)
    answer = asked(harbour, SPEED)
    (kept,) = harbour.library.memory.memories(["maria"], 1, harbour.time)
    assert kept.expires == 0  # never
    assert len(answer.text) > 20_000
    assert kept.answer == answer.text[:20_000]


def test_memory_is_off_by_call_by_persona_and_by_setting(harbour: Any) -> None:
    asked(harbour, SPEED, remember=False)
    harbour.library.personas.change("maria", {"memory.enabled": "false"})
    asked(harbour, SPEED)
    off = harbour.library.settings.model_copy(
        update={"memory": harbour.library.settings.memory.model_copy(update={"enabled": False})}
    )
    asyncio.run(ask(PRICE, "jonas", AskOptions(), harbour.runtime(off)))
    assert harbour.library.memory.personas() == ()


def test_what_is_not_to_be_remembered_is_not_kept_either(harbour: Any) -> None:
    harbour.says(KNOTS)
    asked(harbour, f"{SPEED} zorblaquex", remember=False)
    harbour.library.close()
    stored = b"".join(path.read_bytes() for path in harbour.home.rglob("library.db*"))
    assert b"zorblaquex" not in stored


def test_a_model_is_reminded_of_the_same_personas_answers_only(harbour: Any) -> None:
    for slug in ("maria", "jonas"):
        harbour.library.personas.change(slug, {"memory.recall": "3"})
    asked(harbour, SPEED, "maria")
    asked(harbour, "May a vessel exceed 4 knots near a berth in the marina?", "jonas")
    model = harbour.says(*[KNOTS] * 3)
    asked(harbour, SPEED, "maria")
    prompt = model.asked[0][1]
    assert "[earlier answers" in prompt
    assert SPEED in prompt.partition("[question]")[0]
    assert "marina" not in prompt
    harbour.library.personas.change("maria", {"memory.recall": "0"})
    asked(harbour, f"{SPEED} Please.", "maria")
    assert "[earlier answers" not in model.asked[-1][1]


def test_an_earlier_answer_cannot_be_cited(harbour: Any) -> None:
    harbour.library.personas.change("maria", {"memory.recall": "3"})
    room = harbour
    asked(room, SPEED)
    room.says(f"{KNOTS} [^m1] {KNOTS} [^memory:m1]")
    answer = asked(room, SPEED)
    assert set(answer.rejected) == {"m1", "memory:m1"}


def test_a_broken_question_is_remembered_as_it_was_understood(harbour: Any) -> None:
    asked(harbour, "How fast \udcff may a vessel go?")
    (kept,) = harbour.library.memory.memories(["maria"], 1, 0)
    assert kept.question == "How fast ? may a vessel go?"


def test_a_written_answer_is_given_again_while_nothing_changes(harbour: Any) -> None:
    model = harbour.says(KNOTS, GATE)
    first, again = written(harbour), written(harbour)
    assert len(model.asked) == 1
    assert not first.cached
    assert again.cached
    assert again.sentences == first.sentences
    assert again.citations == first.citations
    assert again.usage == first.usage
    assert "gate" in written(harbour, use_cache=False).sentences[0].text


def test_the_same_question_in_other_wording_is_found_again(harbour: Any) -> None:
    is_kept(harbour)
    please = f"Can you tell me: {SPEED.rstrip('?')} please"
    for wording in (SPEED.upper(), f"Please, {SPEED.lower()}", please):
        again = written(harbour, question=wording)
        assert (again.cached, again.question) == (True, wording)


def test_a_question_put_otherwise_is_answered_anew(harbour: Any) -> None:
    for change in OTHERWISE:
        is_kept(harbour)
        assert not written(harbour, **change).cached, change


def test_another_model_or_another_profile_has_it_written_anew(harbour: Any) -> None:
    is_kept(harbour)
    harbour.says("Other.", name="long")
    assert not written(harbour, model="long").cached
    harbour.says("Other.", fingerprint="another")
    assert not written(harbour).cached


def test_a_persona_who_changed_answers_anew(harbour: Any) -> None:
    harbour.library.personas.refresh("jonas")
    for change in PERSONAS:
        is_kept(harbour)
        harbour.library.personas.change("maria", change)
        assert not written(harbour).cached, change


def test_a_file_that_changed_has_it_written_anew(harbour: Any) -> None:
    for path, text in FILES:
        is_kept(harbour)
        (harbour.home / "personas" / path).write_text(text)
        for slug in ("maria", "jonas"):
            harbour.library.personas.refresh(slug)
        assert not written(harbour).cached, path


def test_a_changed_setting_has_it_written_anew(harbour: Any) -> None:
    harbour.says(KNOTS, "Other.", "More.")
    assert not written(harbour).cached
    settings = harbour.library.settings
    for changed in (
        settings.model_copy(update={"search": settings.search.model_copy(update={"limit": 9})}),
        settings.model_copy(
            update={"packing": settings.packing.model_copy(update={"maximum": 900})}
        ),
    ):
        given = asyncio.run(ask(SPEED, "maria", AskOptions(), harbour.runtime(changed)))
        assert not given.cached


def test_an_answer_that_depends_on_the_day_is_stored_for_that_day(harbour: Any) -> None:
    model = harbour.says(KNOTS, KNOTS)
    assert not written(harbour).cached
    assert written(harbour).cached
    tomorrow = replace(harbour.runtime(), now=lambda: harbour.runtime().now() + DAY)
    assert not asyncio.run(ask(SPEED, "maria", AskOptions(), tomorrow)).cached
    assert len(model.asked) == 2


def test_an_answer_with_a_warning_is_not_kept(harbour: Any) -> None:
    harbour.says(EngineError("Asleep."), KNOTS)
    assert written(harbour).warnings
    assert written(harbour).method == "scripted"


def test_a_damaged_kept_answer_is_written_anew(harbour: Any) -> None:
    connections = harbour.library._runtime.store.memories()._connections
    for damage in ("{", "", "[]", '{"question": 1}', "\x00", None):
        is_kept(harbour)
        with connections.write() as connection:
            if damage is None:  # a quotation that does not stand there
                connection.execute(
                    "UPDATE cached_answer SET answer = replace(answer, '4 knots', '9 knots')"
                )
            else:
                connection.execute("UPDATE cached_answer SET answer = ?", (damage,))
        harbour.says(GATE)
        again = written(harbour)
        assert not again.cached, damage
        assert "gate" in again.sentences[0].text


def written(harbour: Any, **options: Any) -> Answer:
    return asked(
        harbour, options.pop("question", SPEED), options.pop("persona", "maria"), **options
    )


def test_an_answer_is_counted_with_what_it_cites(library: Library) -> None:
    answer = library.answers.ask(SPEED)
    record = answer_record(answer)
    cited = answer.citations[0].document_id
    assert record.outcome is QuestionOutcome.ANSWER
    assert record.cited[0] == cited
    assert cited in record.nearest


def test_what_is_no_answer_cites_nothing_and_has_what_is_nearest(library: Library) -> None:
    answer = library.answers.ask("Which fee does a vessel pay for a parrot?")
    record = answer_record(answer)
    assert record.outcome is not QuestionOutcome.ANSWER
    assert record.cited == ()
    assert record.nearest
    outside = answer_record(replace(answer, route=Route.OUT_OF_SCOPE))
    assert (outside.outcome, outside.nearest) == (QuestionOutcome.OUT_OF_SCOPE, ())


def test_nearest_documents_are_in_no_output(library: Library) -> None:
    answer = library.answers.ask(SPEED)
    assert answer.searched.nearest_documents
    assert "nearest_documents" not in json_fields(answer)["searched"]
    assert "nearest_documents" not in plain(answer)["searched"]
    assert read_held(file_text(json_fields(answer)), ANSWER) == answer


def test_a_meeting_that_decides_nothing_has_no_answer() -> None:
    open_ = Minutes("board", "Board", "Shall we?", usage=Usage(1, 2, 3))
    record = minutes_record(open_)
    assert (record.outcome, record.council) == (QuestionOutcome.NOT_FOUND, "board")
    decided = minutes_record(replace(open_, decided="yes", method="large"))
    assert decided.outcome is QuestionOutcome.ANSWER
