"""Names by which documents mention each other."""

import pytest

from chapterhouse.text.mentions import fold_words, names_in, names_of


@pytest.mark.parametrize(
    ("title", "source", "others", "names"),
    [
        ("Dark River (2017 film)", "films/7.txt", (), ("dark river 2017 film", "dark river")),
        ("Refunds", "site/refund-policy.md", (), ("refunds", "refund policy md", "refund policy")),
        ("Who we are", "a.md", ("Harbour Office",), ("who we are", "a md", "harbour office")),
        ("It", "1.txt", (), ("1 txt",)),
        ("one two three four five six seven eight nine", "2019", (), ()),
    ],
)
def test_a_document_goes_by_title_file_and_other_names(
    title: str, source: str, others: tuple[str, ...], names: tuple[str, ...]
) -> None:
    assert set(names_of(title, source, others)) >= set(names)
    assert all(len(name) > 1 for name in names_of(title, source, others))


@pytest.mark.parametrize(
    ("text", "mentioned"),
    [
        ("A film directed by Robert A. Stemmle and starring others.", "robert a stemmle"),
        ("It is set out in the Master  Services\nAgreement below.", "master services agreement"),
        ("see refund-policy.md for more", "refund policy md"),
        ("كتاب عن تاريخ المدينة القديمة", "تاريخ المدينة القديمة"),
        ("THE RULES OF THE HARBOUR APPLY", "rules of the harbour"),
    ],
)
def test_names_are_found_in_text(text: str, mentioned: str) -> None:
    assert mentioned in names_in(text)


def test_words_without_a_capital_begin_no_name() -> None:
    found = names_in("We use the refund policy of last year, says Ann.")
    assert "refund policy" not in found
    assert names_in("no name here at all") == ()


def test_names_are_compared_without_case_width_and_marks() -> None:
    assert fold_words("  God's Gift — ＴＯ Women! ") == "god s gift to women"
