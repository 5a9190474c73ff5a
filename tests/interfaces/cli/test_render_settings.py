"""What people see of settings."""

from chapterhouse.interfaces.cli.render_settings import changed, listed, shown
from chapterhouse.presenting.blocks import Block
from chapterhouse.types import Origin, SettingValue

VALUE = SettingValue(
    "search.limit", 5, Origin.DATABASE, 10, changed=86_400, changed_by="ada", is_changeable=True
)


def text(blocks: object) -> str:
    assert not isinstance(blocks, Block)
    return repr(list(blocks))  # type: ignore[call-overload]


def test_a_value_that_is_ignored_says_why() -> None:
    ignored = SettingValue("search.limit", 10, Origin.DEFAULT, 10, ignored="not\na number")
    assert "ignored: not a number" in text(listed([ignored]))
    assert "ignored: not a number" in text(shown(ignored))
    assert "ignored" not in text(listed([VALUE]))


def test_who_changed_it_and_where_it_can_be_changed() -> None:
    found = text(shown(VALUE))
    assert "1970-01-02 00:00:00 UTC by ada" in found
    assert "settings set" in found
    fixed = text(shown(SettingValue("cloud.rclone", "x", Origin.HOME_FILE, "")))
    assert "in a settings file" in fixed
    assert "changed" not in fixed


def test_reindex_is_named_where_documents_need_it() -> None:
    assert "reindex --home x" in text(changed([VALUE], 2, " --home x", dry_run=False))
    assert "reindex" not in text(changed([VALUE], 0, "", dry_run=False))
    assert "Nothing was changed." in text(changed([VALUE], 0, "", dry_run=True))
