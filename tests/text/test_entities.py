import io
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chapterhouse.models.built_in import built_in_encoder
from chapterhouse.text.entities import (
    LABELS,
    best_labels,
    entity_head,
    find_mentions,
    packaged_head,
    runs,
)
from chapterhouse.types import TokenVectors
from chapterhouse.types.graph import EntityKind, Mention

HEAD = entity_head(packaged_head())
OTHER = {EntityKind.CONCEPT, EntityKind.PRODUCT, EntityKind.TECHNOLOGY}


def mentions(text: str) -> tuple[Mention, ...]:
    return find_mentions(text, built_in_encoder().embed_passage_tokens([text])[0], HEAD)


def names(text: str) -> dict[str, EntityKind]:
    return {text[one.start : one.end]: one.kind for one in mentions(text)}


def test_the_head_is_fitted_on_the_encoder_in_the_box() -> None:
    assert HEAD.encoder == built_in_encoder().fingerprint
    assert len(packaged_head()) < 60_000


def test_people_organizations_and_places_are_told_apart() -> None:
    found = names(
        "Angela Merkel met Barack Obama in Berlin. "
        "The European Commission and Microsoft Corporation opened an office in Kenya."
    )
    assert found["Angela Merkel"] is EntityKind.PERSON
    assert found["Barack Obama"] is EntityKind.PERSON
    assert found["Berlin"] is EntityKind.LOCATION
    assert found["Microsoft Corporation"] is EntityKind.ORGANIZATION
    assert found["Kenya"] is EntityKind.LOCATION


def test_names_end_without_possessives_quotes_and_brackets() -> None:
    found = names(
        'The report quotes "John Smith" twice. Maria Lopez\'s house is in (Madrid). '
        "He left the U.S. in 1990."
    )
    assert {"John Smith", "Maria Lopez", "Madrid", "U.S."} <= set(found)


def test_pronouns_months_weekdays_and_numbers_are_no_names() -> None:
    text = "On Monday I met them. In May she paid 4,500. He said on Friday, 3 March: We go. WE GO."
    assert not {"Monday", "I", "May", "She", "He", "We", "Friday", "March"} & set(names(text))
    assert all(any(map(str.isalpha, name)) for name in names(text))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("The Boeing 747 landed in Oslo.", "Boeing 747"),
        ("She plays the video game Final Fantasy 7 on her phone.", "Final Fantasy 7"),
    ],
)
def test_a_name_with_a_number_is_a_product(text: str, name: str) -> None:
    assert names(text).get(name) is EntityKind.PRODUCT


def test_what_is_a_name_of_some_kind_counts_though_the_kind_is_unsure() -> None:
    text = "We use jQuery and Node.js. The Docker image depends on Debian."
    assert names(text).keys() >= {"jQuery", "Node.js", "Docker", "Debian"}
    found = {text[one.start : one.end]: one for one in mentions(text)}
    assert all(one.confidence <= one.likelihood for one in found.values())
    assert found["jQuery"].confidence < 0.5 < found["jQuery"].likelihood
    assert "jQuery" in names("* jQuery Story in New Stack - check it out!")


def test_a_name_ends_before_a_bracket_and_words_of_the_sentence() -> None:
    found = names(
        "The Kase Group (“TKG”) sells the property. The Baltic Ferry Company agrees. "
        "Signed by Andrew Webb; Sara Chipps left."
    )
    assert found.keys() >= {"Kase Group", "Baltic Ferry Company", "Andrew Webb", "Sara Chipps"}


def test_capitals_are_not_enough() -> None:
    assert names("The ferry leaves at noon. Passengers wait on the pier. Dogs are welcome.") == {}


@pytest.mark.parametrize(
    "text", ["", " \n", "🎉🎉", "…", "北京是中国的首都。", "مرحبا بالعالم", "ﬁ́"]
)
def test_other_scripts_and_empty_texts_are_read(text: str) -> None:
    assert all(0 <= one.start < one.end <= len(text) for one in mentions(text))


PIECES = st.sampled_from(
    ["Anna Lee", "IBM", "U.S.", "'s", "’", "Paris", "(", "XR-200", "4.0.2", "北京", "İ", "\n", ". "]
)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.one_of(PIECES, st.text(max_size=12)), max_size=12).map(" ".join))
def test_mentions_lie_in_the_text_in_order_and_apart(text: str) -> None:
    found = mentions(text)
    for one in found:
        name = text[one.start : one.end]
        assert name == name.strip()
        assert any(map(str.isalpha, name))
        assert 0 <= one.confidence <= 1
    assert all(before.end <= after.start for before, after in pairwise(found))
    assert found == mentions(text)


@given(st.integers(0, 2**32 - 1), st.integers(1, 12))
def test_no_name_begins_inside(seed: int, words: int) -> None:
    scores = np.random.default_rng(seed).normal(0, 5, (words, LABELS)).astype(np.float32)
    labels = best_labels(scores, HEAD.transitions)
    for before, label in pairwise([0, *labels]):
        assert label == 0 or label % 2 or before in {label, label - 1}
    assert sum(last - first for first, last, _ in runs(labels)) == sum(map(bool, labels))


@given(st.integers(0, 2**32 - 1))
def test_the_best_labels_are_the_best_of_all(seed: int) -> None:
    chance = np.random.default_rng(seed)
    scores = chance.normal(0, 1, (3, 4)).astype(np.float32)
    after = chance.normal(0, 1, (4, 4)).astype(np.float32)

    def score(labels: tuple[int, ...]) -> float:
        steps = sum(float(after[pair]) for pair in pairwise((0, *labels)))
        return steps + sum(float(row[label]) for row, label in zip(scores, labels, strict=True))

    best = max(map(score, np.ndindex(4, 4, 4)))
    assert score(tuple(best_labels(scores, after))) == pytest.approx(best, abs=1e-4)


def test_vectors_of_a_token_without_a_word_are_left_out() -> None:
    nothing = np.zeros((1, 384), dtype=np.float32)
    tokens = TokenVectors(np.asarray([0]), np.asarray([1]), nothing, nothing)
    assert find_mentions(" Berlin", tokens, HEAD) == ()


@pytest.mark.parametrize(
    "changed",
    [
        {"bias": np.zeros(3)},
        {"weights": np.full((4, LABELS), np.nan)},
        {"transitions": np.zeros((LABELS, 2))},
    ],
)
def test_a_head_that_does_not_fit_is_refused(changed: dict[str, np.ndarray]) -> None:
    arrays = {"weights": HEAD.weights, "bias": HEAD.bias, "transitions": HEAD.transitions}
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, encoder=np.array("one"), **{**arrays, **changed})
    with pytest.raises(ValueError, match=r"The head|of the head"):
        entity_head(buffer.getvalue())
    without = io.BytesIO()
    np.savez(without, weights=HEAD.weights)
    with pytest.raises(ValueError, match="The head has no bias"):
        entity_head(without.getvalue())


def test_no_name_reaches_over_an_empty_line() -> None:
    text = "# Secret\n\nMarcus Webb met Helena Brandt in Rostock.\n"
    assert names(text).keys() >= {"Marcus Webb", "Helena Brandt", "Rostock"}


def test_a_place_and_where_it_lies_are_two_names() -> None:
    found = names("Her office is in Kiel, Germany. He was born in Los Angeles, California.")
    assert found.keys() >= {"Kiel", "Germany", "Los Angeles", "California"}
    assert set(found.values()) == {EntityKind.LOCATION}
