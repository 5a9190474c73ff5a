"""What people see of a receipt."""

from chapterhouse.interfaces.cli import render_removals
from chapterhouse.types import Purge, Receipt, Removal, SearchCount


def _text(blocks: object) -> str:
    return "\n".join(map(str, blocks))  # type: ignore[call-overload]


def _receipt(**paths: SearchCount) -> Receipt:
    none = dict.fromkeys(("phrases", "terms", "vectors", "names", "ids", "passages"), SearchCount())
    return Receipt(**{**none, **paths}, files=3, bytes=2**20, retained=("mail.eml",))


def test_every_path_is_named_with_its_numbers() -> None:
    receipt = _receipt(terms=SearchCount(1, 0), vectors=SearchCount(4, 2, ("vectors of x",)))
    shown = _text(render_removals.purge(Purge((), receipt), dry_run=False))
    assert "Some was found" in shown
    assert "0 of 0 phrases, 0 of 1 term, 2 of 4 vectors" in shown
    assert "3 files (1.0 MB)" in shown
    assert "vectors of x" in shown
    assert "mail.eml" in shown


def test_without_a_receipt_there_is_nothing_to_say_of_it() -> None:
    shown = list(render_removals.removal(Removal(()), 0, dry_run=True))
    assert len(shown) == 1
    assert "Would remove 0 documents." in _text(shown)
