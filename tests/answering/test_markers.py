import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.answering.markers import (
    Marker,
    Place,
    as_markers,
    resolve,
    without_look_alikes,
    without_markers,
)
from chapterhouse.text.look_alikes import inert

PLACES = (
    Place("runtime-overview", "Guide › Tracking", 0),
    Place("runtime-overview", "Guide › Displays", 1),
    Place("press-2025", "", 2),
    Place("notes", "Q: why? › 3. Höhe", 3),
)


def test_markers_leave_the_text_and_say_where_they_stood() -> None:
    text, markers = without_markers("It tracks eyes [^a:Tracking]. It is fast.[^b:X][^c]")

    assert text == "It tracks eyes. It is fast."
    assert markers == (Marker(14, "a:Tracking"), Marker(27, "b:X"), Marker(27, "c"))


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("So it is [1].", "So it is [^1]."),
        ("So it is [1, 3].", "So it is [^1][^3]."),
        ("So it is [^press-2025:1].", "So it is [^press-2025:1]."),
        ("So it is [press-2025].", "So it is [^press-2025]."),
        ("So it is (press-2025).", "So it is [^press-2025]."),
        ("So it is (press-2025; runtime-overview:Tracking).",
         "So it is [^press-2025][^runtime-overview:Tracking]."),
        ("So it is 【2†source】.", "So it is [^2]."),
        ("So it is [doc press-2025].", "So it is [^press-2025]."),
        ("So it is [Source 3].", "So it is [^3]."),
        ("In (press-2025) they say so.", "In (press-2025) they say so."),
        ("Pay 20 euros (3).", "Pay 20 euros (3)."),
        ("See [press-2025](https://x.example).", "See [press-2025](https://x.example)."),
        ("So it is [77].", "So it is [77]."),
    ],
)  # fmt: skip
def test_every_way_of_citing_a_place_is_read(written: str, read: str) -> None:
    assert as_markers(written, PLACES) == read


def test_several_markers_in_one_pair_of_brackets_are_told_apart() -> None:
    _, markers = without_markers("So it is [^a:X; ^b:Y, ^c:Z].")

    assert [marker.written for marker in markers] == ["a:X", "b:Y", "c:Z"]


@pytest.mark.parametrize(
    ("written", "numbers"),
    [
        ("runtime-overview:Tracking", (0,)),
        ("runtime-overview:Guide › Tracking", (0,)),
        ("runtime-overview:Guide > Tracking", (0,)),
        ("RUNTIME-OVERVIEW: §tracking", (0,)),
        ("runtime-overview", (0, 1)),
        ("press-2025", (2,)),
        ("press-2025:", (2,)),
        ("notes:3. Höhe", (3,)),
        ("notes:Q: why? › 3. Höhe", (3,)),
        ("1", (0,)),
        ("4", (3,)),
        ("press-2025:1", (2,)),
        ("0", ()),
        ("5", ()),
        ("runtime-overview:Track", ()),
        ("runtime-overview:Guide", ()),
        ("runtime-overview:Latency", ()),
        ("runtime:Tracking", ()),
        ("press-2025:Tracking", ()),
        ("", ()),
        (":", ()),
        ("runtime-overview:", ()),
    ],
)
def test_a_marker_names_a_place_or_nothing(written: str, numbers: tuple[int, ...]) -> None:
    assert resolve(written, PLACES) == numbers


@pytest.mark.parametrize(
    "forged",
    [
        "[1]",
        "[12, 13]",
        "[2–4]",
        "[^1]",
        "[^leia-2024:Tracking]",
        "[note 3]",
        "[Source 2]",
        "[doc x §y]",
        "【3†source】",
        "〔7〕",
        "［8］",
    ],
)
def test_what_looks_like_a_citation_reaches_no_reader(forged: str) -> None:
    assert without_look_alikes(f"It is so {forged}.") == ("It is so.", (forged,))
    assert not re.search(r"[\[\]【】〔〕［］]", inert(f"It is so {forged}."))
    assert len(inert(forged)) == len(forged)


@pytest.mark.parametrize("kept", ["a[i] = b[j]", "[sic]", "[the harbour master]", "x [] y"])
def test_other_brackets_stay(kept: str) -> None:
    assert without_look_alikes(kept) == (kept, ())
    assert inert(kept) == kept


@given(st.text(alphabet="ab [^]:;,\n.1§›", max_size=80))
def test_no_marker_survives_whatever_is_written(text: str) -> None:
    plain, markers = without_markers(text)

    assert not re.search(r"\[\^[^\[\]\n]+\]", without_look_alikes(plain)[0])
    assert all(0 <= marker.position <= len(plain) for marker in markers)
