import pytest

from chapterhouse.interfaces.cli.terminal import can_redraw, console
from chapterhouse.presenting.styled import styled


@pytest.mark.parametrize("stderr", [False, True])
def test_no_color_leaves_no_sequence_at_all(
    monkeypatch: pytest.MonkeyPatch, *, stderr: bool
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # as on a terminal
    monkeypatch.setenv("TERM", "xterm")
    for value, plain in (("", False), ("1", True)):
        monkeypatch.setenv("NO_COLOR", value)
        target = console(stderr=stderr)
        with target.capture() as captured:
            target.print(styled(("a", "bold"), ("b", "dim italic"), ("c", "red")))
        assert ("\x1b" not in captured.get()) is plain
        assert not (plain and can_redraw())
