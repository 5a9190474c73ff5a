import hashlib
import json
import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.answering.bundle import ANSWER as KIND
from chapterhouse.answering.bundle import (
    Bundle,
    bundle_json,
    checksum_of,
    examine,
    file_text,
    json_fields,
    make_bundle,
    read_held,
)
from chapterhouse.answering.bundle import read_bundle as read_any_bundle
from chapterhouse.answering.cite import text_hash
from chapterhouse.errors import UsageError
from chapterhouse.interfaces.cli.envelope import plain, success
from chapterhouse.types import (
    Answer,
    AnswerOutcome,
    AnswerSentence,
    Citation,
    Document,
    Mismatch,
    MismatchKind,
    Opinion,
    OpinionKind,
    Quotation,
    Route,
    Searched,
    Usage,
)

TEXT = "Inside the harbour no vessel may exceed 4 knots. The gate closes at 21:30."
DOCUMENT = Document(
    "rules-1",
    "docs/rules.md",
    "/docs/rules.md",
    "Rules",
    "md",
    "markdown",
    "0" * 64,
    text_hash(TEXT),
    1,
    0,
    language="en",
    metadata={"date": "2024-03-07", "secret": "CANARY"},
)
QUOTE = "Inside the harbour no vessel may exceed 4 knots."
CITATION = Citation(
    1, "rules-1", "Rules", "docs/rules.md", ("Rules",), None, "", "", 0, len(QUOTE), QUOTE,
    text_hash(TEXT), "rules-1:Rules", "2024", "", verified=True,
)  # fmt: skip
ANSWER = Answer(
    "How fast?",
    outcome=AnswerOutcome.ANSWER,
    sentences=(AnswerSentence(QUOTE, (1,)),),
    citations=(CITATION,),
    searched=Searched(1, 2, ("fast",), (), ("Rules",)),
    confidence=0.875,
)

words = st.text(st.characters(codec="utf-8"), max_size=12)
numbers = st.integers(0, 2**53)
quotations = st.builds(Quotation, words, numbers, numbers, words)
citations = st.builds(
    Citation,
    number=numbers,
    document_id=words,
    title=words,
    source=words,
    section_path=st.lists(words, max_size=2).map(tuple),
    page=st.none() | numbers,
    page_kind=words,
    page_label=words,
    start=numbers,
    end=numbers,
    quote=words,
    text_sha256=words,
    marker=words,
    year=words,
    link=words,
    verified=st.booleans(),
)
sentences = st.builds(
    AnswerSentence,
    words,
    st.lists(numbers, max_size=2).map(tuple),
    st.lists(st.builds(Mismatch, st.sampled_from(MismatchKind), words, words)).map(tuple),
    words,
    opinion=st.none() | st.builds(Opinion, st.sampled_from(OpinionKind), words, numbers),
)
several = st.lists(words, max_size=3).map(tuple)
usages = st.builds(Usage, numbers, numbers, numbers)
answers = st.builds(
    Answer,
    question=words,
    outcome=st.sampled_from(AnswerOutcome),
    sentences=st.lists(sentences, max_size=3).map(tuple),
    citations=st.lists(citations, max_size=3).map(tuple),
    searched=st.builds(Searched, numbers, numbers, several, several, several),
    confidence=st.floats(0, 1),
    method=words,
    warnings=several,
    persona=words,
    display_name=words,
    route=st.sampled_from(Route),
    notice=words,
    rejected=several,
    handed_to=words,
    usage=st.none() | usages,
    cached=st.booleans(),
    refreshed=words,
)


def bundle_of(answer: Answer, **configuration: object) -> Bundle[Answer]:
    return make_bundle(answer, KIND, [DOCUMENT], configuration, {"chapterhouse": "0.0"}, 7)


def read_bundle(data: str | bytes) -> Bundle[Answer]:
    return read_any_bundle(data, KIND)


def read_answer(data: str | bytes) -> Answer:
    return read_held(data, KIND)


def answer_json(answer: Answer) -> str:
    return file_text(json_fields(answer))


def failed(text: str | bytes) -> set[str]:
    return {check.name for check in examine(read_bundle(text)) if not check.passed}


def altered(*path: str | int, to: object) -> str:
    """Return the bundle of the answer with one value changed, its seal made anew or not."""
    data = json.loads(bundle_json(bundle_of(ANSWER)))
    inner = data
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = to
    return json.dumps(data)


def resealed(text: str) -> str:
    """Return a bundle as a forger would write it who knows how seals are made."""
    data = json.loads(text)
    unsealed = {name: value for name, value in data.items() if name != "checksum"}
    line = json.dumps(unsealed, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return json.dumps({**data, "checksum": hashlib.sha256(line.encode()).hexdigest()})


@given(answers)
def test_an_answer_comes_back_from_its_json(answer: Answer) -> None:
    assert read_answer(answer_json(answer)) == answer
    assert read_answer(answer_json(answer).encode()) == answer


@given(
    answers, st.dictionaries(words, words | numbers | st.booleans() | several.map(list), max_size=3)
)
def test_a_bundle_comes_back(answer: Answer, configuration: dict[str, object]) -> None:
    made = bundle_of(answer, **{f"k{key}": value for key, value in configuration.items()})
    text = bundle_json(made)
    assert read_bundle(text) == made
    assert bundle_json(read_bundle(text)) == text
    assert read_answer(text) == answer
    assert "checksum" not in failed(text)


def test_a_bundle_as_written_passes_every_check() -> None:
    text = bundle_json(bundle_of(ANSWER))
    assert failed(text) == set()
    assert text.endswith("}\n")
    assert "CANARY" not in text
    assert json.loads(text)["format"] == KIND.format


def test_what_ask_json_prints_is_read() -> None:
    answer = replace(ANSWER, usage=Usage(1, 10, 5), warnings=("Slow.",))
    printed = json.dumps(success(plain(answer), workspace="default", seconds=0.1))
    assert read_answer(printed) == answer


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)


def turned(value: Any) -> Any:
    """Return the same value with the keys of each object the other way round."""
    if isinstance(value, dict):
        return {key: turned(value[key]) for key in reversed(value)}
    return [turned(one) for one in value] if isinstance(value, list) else value


@given(st.dictionaries(st.text(max_size=3), VALUES, max_size=4), st.text(max_size=5))
def test_a_file_has_the_same_bytes_in_any_order(fields: dict[str, object], value: str) -> None:
    assert file_text(fields) == file_text(turned(fields))
    assert json.loads(file_text(fields)) == fields
    assert checksum_of(turned({**fields, "checksum": value})) == checksum_of(fields)
    assert checksum_of({**fields, "another field": value}) != checksum_of(fields)


def paths(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield where each value of an object stands."""
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, one in inner:
        yield (*path, key)
        if isinstance(one, dict | list):
            yield from paths(one, (*path, key))


@pytest.mark.parametrize("to", ["x", 7, 0.5, True, None, [], {}])
def test_any_changed_field_breaks_the_seal(to: object) -> None:
    data = json.loads(bundle_json(bundle_of(ANSWER)))
    for path in paths(data):
        text = altered(*path, to=to)
        if json.loads(text) != data:
            try:
                assert "checksum" in failed(text), path
            except UsageError:
                continue


@pytest.mark.parametrize(
    "path", [("x",), ("answer", "x"), ("answer", "citations", 0, "x"), ("sources", 0, "x")]
)
def test_nothing_can_be_added_beside_what_is_sealed(path: tuple[str | int, ...]) -> None:
    with pytest.raises(UsageError, match="holds more than a bundle"):
        read_bundle(altered(*path, to="forged"))


def test_a_field_that_is_named_twice_is_refused() -> None:
    text = bundle_json(bundle_of(ANSWER)).replace(
        '"outcome": "answer"', '"outcome": "passages", "outcome": "answer"'
    )
    with pytest.raises(UsageError, match="twice"):
        read_bundle(text)


@pytest.mark.parametrize("seed", range(4))
def test_any_changed_byte_is_noticed(seed: int) -> None:
    generator = random.Random(seed)
    made = bundle_of(replace(ANSWER, question="Wie schnell fährt man im Hafen?"))
    whole = bundle_json(made).encode()
    for _ in range(250):
        data = bytearray(whole)
        place = generator.randrange(len(data))
        data[place] = generator.randrange(256)
        try:
            found = read_bundle(bytes(data))
        except UsageError:
            continue
        assert found == made or "checksum" in failed(bytes(data)), bytes(
            data[place - 20 : place + 20]
        )


@pytest.mark.parametrize(
    ("path", "to", "check"),
    [
        (("answer", "citations", 0, "quote"), QUOTE.replace("4", "9"), "quotations"),
        (("answer", "citations", 0, "start"), 1, "quotations"),
        (("answer", "citations", 0, "start"), -1, "quotations"),
        (("answer", "citations", 0, "verified"), False, "quotations"),
        (("answer", "citations", 0, "number"), 2, "numbering"),
        (("answer", "sentences", 0, "citations"), [1, 2], "numbering"),
        (("answer", "citations", 0, "text_sha256"), "0" * 64, "sources"),
        (("answer", "citations", 0, "document_id"), "other-2", "sources"),
        (("sources",), [], "sources"),
        (("answer", "sentences", 0, "text"), QUOTE.replace("4", "9"), "sentences"),
        (("answer", "sentences", 0, "text"), QUOTE.replace("no", "any"), "sentences"),
        (("answer", "sentences", 0, "citations"), [], "sentences"),
    ],
)  # fmt: skip
def test_a_new_seal_does_not_hide_what_does_not_fit(
    path: tuple[str | int, ...], to: object, check: str
) -> None:
    found = failed(resealed(altered(*path, to=to)))
    assert check in found
    assert "checksum" not in found


def test_what_does_not_hold_is_named() -> None:
    checks = examine(read_bundle(altered("quotes", "1", to="0")))
    told = {check.name: check for check in checks}
    assert told["quotations"].sentence == "[1] does not hold."
    assert told["quotations"].hint
    assert [check.name for check in checks] == [
        "checksum", "quotations", "sources", "numbering", "sentences",
    ]  # fmt: skip


def test_what_a_model_wrote_is_its_own() -> None:
    own = AnswerSentence("Be slow.", (1,), (Mismatch(MismatchKind.NUMBER, "9"),))
    made = bundle_of(replace(ANSWER, method="model", sentences=(own,)))
    assert failed(bundle_json(made)) == set()
    quoted = replace(own, note="quoted from the documents")
    made = bundle_of(replace(ANSWER, method="model", sentences=(own, quoted)))
    assert failed(bundle_json(made)) == {"sentences"}


JUNK = [
    "", " ", "nothing", "[]", "1", "null", '"text"', "{", "{}", '{"data": 1}', '{"data": {}}',
    '{"answer": {}}', '{"ok": false, "error": {"type": "x"}}', "\x00", "\ufeff{}", "[" * 100_000,
    '{"a":' * 50_000, '{"data": ' + "9" * 5_000 + "}", '{"data": {"question": "\\ud800"}}',
    '{"format": "chapterhouse-answer/4"}', '{"format": "chapterhouse-answer/5", "answer": {}}',
    '{"format": ["chapterhouse-answer/4"]}', '{"format": {"a": "' + "x" * 500 + '"}}', "NaN",
    '{"data": NaN}',
]  # fmt: skip


@pytest.mark.parametrize("text", [*JUNK, b"\xff\xfe", b"\x80", b"{\xff}", bytes(range(256))])
def test_junk_is_refused_with_a_hint(text: str | bytes) -> None:
    encoded = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    for read in (read_answer, read_bundle):
        for data in (text, encoded):
            with pytest.raises(UsageError) as failure:
                read(data)
            assert len(failure.value.message) < 400
            assert "\n" not in failure.value.message


def test_a_later_format_says_what_this_one_is() -> None:
    text = altered("format", to="chapterhouse-answer/5")
    with pytest.raises(
        UsageError, match=r"format chapterhouse-answer/4, but 'chapterhouse-answer/5'"
    ):
        read_bundle(text)


def test_a_file_that_no_answer_is_as_large_as_is_refused() -> None:
    with pytest.raises(UsageError, match="more than"):
        read_answer(b" " * (32 * 2**20 + 1))
