"""What is written into a grant."""

import pytest

from chapterhouse.errors import UsageError
from chapterhouse.facets.access import check_label, check_name, check_names, describe
from chapterhouse.types import AccessLevel, Grant


def test_names_are_in_order_and_each_once() -> None:
    assert check_names("shelf", ["b", "a", "b"]) == ("a", "b")
    assert check_names("shelf", []) == ()
    assert check_names("shelf", None) is None
    assert check_name("user", "ada") == "ada"


@pytest.mark.parametrize("name", ["", "a b", "../x", "x" * 65, "ä", "-x", "a\n"])
def test_what_cannot_be_a_name_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="name of a workspace"):
        check_names("workspace", ["fine", name])


def test_one_text_is_not_taken_for_its_letters() -> None:
    with pytest.raises(UsageError, match="abc"):
        check_names("workspace", "abc")


def test_labels_are_bounded_and_visible() -> None:
    assert check_label("  nightly backup ") == "nightly backup"
    assert check_label("a\u202eb") == "a\\u202eb"
    for label in ("", "  ", "x" * 101):
        with pytest.raises(UsageError, match="1 to 100"):
            check_label(label)


def test_a_grant_in_words() -> None:
    assert describe(Grant("user ada", AccessLevel.ADMIN, None)) == "admin"
    grant = Grant("user ada", AccessLevel.READ, ("a", "b"), (), ("maria",))
    assert describe(grant) == "read in a,b shelves none personas maria"
