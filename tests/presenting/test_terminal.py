import io

from rich.console import Console

from chapterhouse.presenting.blocks import Style, verbatim
from chapterhouse.presenting.terminal import draw


def test_a_line_of_ours_stays_as_it_is() -> None:
    target = Console(file=io.StringIO(), soft_wrap=True, color_system=None)
    draw(target, [verbatim(("ok      ", Style.GOOD), "[draft].txt"), verbatim("below", indent=4)])
    assert target.file.getvalue() == "ok      [draft].txt\n    below\n"  # type: ignore[attr-defined]
