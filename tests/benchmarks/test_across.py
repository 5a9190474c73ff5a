from dataclasses import replace
from pathlib import Path

import across
from across import Question, check, has_facts, is_held_out, lay_out, read_questions


def _question(**changes: object) -> Question:
    own = Question("a", "de", "Wie geht das?", "en", _held_out(), (("press the key",),))
    return replace(own, **changes)  # type: ignore[arg-type]


def _held_out() -> str:
    names = (f"help/{number}" for number in range(1000))
    return next(filter(is_held_out, names))


def _page(words: str) -> bytes:
    return f"<html><body><p>{words * 200}</p></body></html>".encode()


def test_questions_are_of_pages_held_out_and_their_facts_short() -> None:
    questions = read_questions()

    across_languages = [one for one in questions if one.library != across.MIXED]
    assert len(across_languages) == 120
    assert len({one.id for one in questions}) == len(questions) == 200
    assert all(one.language != one.library and one.facts for one in across_languages)
    assert all(is_held_out(one.page) for one in questions)
    facts = [each for one in questions for fact in one.facts for each in fact]
    assert max(map(len, facts)) <= across.LONGEST_FACT


def test_facts_are_found_whatever_spaces_stand_between() -> None:
    assert has_facts("プリンターの 用紙設定を\n横に変える必要", [["用紙設定を横に変える"]])
    assert has_facts("Press **Esc** to\ndecline", [["accept", "press esc to decline"]])
    assert not has_facts("Press Esc", [["press esc"], ["to decline"]])


def test_check_names_facts_that_are_absent_or_elsewhere_and_pages_not_held_out() -> None:
    own, other = _question(), _question(id="b", page="help/0x")
    texts = {
        f"{own.page}.html": "Press the key.",
        "help/0x.html": "Nothing.",
        "help/z.html": "You press the key.",
    }

    assert list(check(texts, [own])) == ["a: help/z.html has the whole answer, too"]
    found = "\n".join(check(texts, [other]))
    assert "b: help/0x is not held out" in found
    assert "b: 'press the key' is too long or not in help/0x.html" in found


def test_a_library_has_the_pages_of_its_questions_and_others_up_to_its_size(tmp_path: Path) -> None:
    pages = {"en": {f"help/{number}": _page("word ") for number in range(500)}}
    pages["en"] |= {"help/short": b"<p>short</p>", _held_out(): b"<p>short, but asked for</p>"}

    lay_out(pages, "en", [_question()], tmp_path)

    names = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.html")}
    assert len(names) == across.LIBRARY_PAGES
    assert f"{_held_out()}.html" in names
    assert "help/short.html" not in names


def test_a_mixed_library_has_no_page_in_two_languages(tmp_path: Path) -> None:
    own = {f"help/{number}": _page("word ") for number in range(1000)}
    pages = dict.fromkeys(across.MIXED_LANGUAGES, own)
    question = _question(library=across.MIXED, facts=())

    lay_out(pages, across.MIXED, [question], tmp_path)

    files = [path.relative_to(tmp_path).parts for path in tmp_path.rglob("*.html")]
    assert len(files) == across.MIXED_PAGES * len(across.MIXED_LANGUAGES)
    assert len({parts[1:] for parts in files}) == len(files)
    assert ("de", *f"{question.page}.html".split("/")) in files
