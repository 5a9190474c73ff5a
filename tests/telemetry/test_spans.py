import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.telemetry import TraceSpan, collecting, span


def shape(spans: tuple[TraceSpan, ...]) -> object:
    return tuple((one.name, shape(one.children)) for one in spans)


def test_what_a_span_is_told_is_kept() -> None:
    with collecting() as trace, span("work", {"a": 1}, {"b": "secret"}) as recorder:
        assert recorder.listening
        recorder.set("c", 2)
        recorder.set_content("d", ["text"])
        recorder.event("moved", {"e": 2.5}, {"f": None})

    (one,) = trace.roots
    assert (one.name, one.attributes, one.content) == (
        "work",
        {"a": 1, "c": 2},
        {"b": "secret", "d": ["text"]},
    )
    (event,) = one.events
    assert (event.name, event.attributes, event.content) == ("moved", {"e": 2.5}, {"f": None})
    assert 0 <= event.seconds <= one.seconds
    assert one.start_seconds >= 0
    assert one.error == ""


def test_nobody_listens_unless_asked() -> None:
    with span("work", {"a": 1}) as recorder:
        assert not recorder.listening
        recorder.set("b", 2)
        recorder.set_content("c", 3)
        recorder.event("d")
        recorder.fail("e")
        recorder.caught(ValueError())
    with collecting() as trace:
        pass
    with span("later"):
        pass
    assert trace.roots == ()


TREES = st.recursive(st.just(()), lambda inner: st.lists(inner, max_size=3).map(tuple))


def nested(tree: tuple[object, ...], name: str = "0") -> object:
    """Open spans of this form; return the form with their names."""
    named = []
    for number, below in enumerate(tree):
        with span(f"{name}.{number}"):
            assert isinstance(below, tuple)
            named.append((f"{name}.{number}", nested(below, f"{name}.{number}")))
    return tuple(named)


def walked(spans: tuple[TraceSpan, ...]) -> list[TraceSpan]:
    return [one for root in spans for one in (root, *walked(root.children))]


@given(TREES)
def test_the_tree_is_that_of_the_blocks_and_what_is_inside_lasts_no_longer(
    tree: tuple[object, ...],
) -> None:
    with collecting() as trace:
        assert shape(trace.roots) == ()
        expected = nested(tree)
    assert shape(trace.roots) == expected
    for one in walked(trace.roots):
        for child in one.children:
            assert one.start_seconds <= child.start_seconds
            assert child.start_seconds + child.seconds <= one.start_seconds + one.seconds + 1e-9


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ValueError("of a document"), "ValueError"),
        (KeyboardInterrupt(), "KeyboardInterrupt"),
        (asyncio.CancelledError("of a document"), "asyncio.exceptions.CancelledError"),
    ],
)
def test_what_is_raised_is_noted_and_goes_on(error: BaseException, kind: str) -> None:
    with collecting() as trace, pytest.raises(type(error)), span("around"), span("work"):
        raise error

    (around,) = trace.roots
    (work,) = around.children
    assert (around.error, work.error) == (kind, kind)
    (event,) = work.events
    assert (event.name, event.attributes) == ("exception", {"exception.type": kind})
    assert event.content == {"exception.message": str(error)}
    assert work.attributes == {"error.type": kind}


def test_who_collects_inside_takes_nothing_away() -> None:
    with collecting() as outer, span("a"), collecting() as inner, span("b"), span("c"):
        pass
    assert shape(outer.roots) == (("a", (("b", (("c", ()),)),)),)
    assert shape(inner.roots) == (("b", (("c", ()),)),)
