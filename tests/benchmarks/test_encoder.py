import json
from dataclasses import asdict
from pathlib import Path

from material import HELD_OUT, LONGEST, Passage, passages
from pairs import draw_pairs
from vocabulary import PASSAGE, QUESTION, tokenizer_of

SENTENCE = "The council keeps the minutes of its meetings for ten years."


def test_a_page_is_cut_into_passages_of_whole_sentences() -> None:
    body = f"{' '.join([SENTENCE] * 20)}\nShort.\n{'1 = 2; ' * 20}"
    made = list(passages("de_AT", "guide", "one", "Minutes", body))
    assert [each.language for each in made] == ["de", "de"]
    assert all(len(each.text) <= LONGEST for each in made)
    assert sum(each.text.count(SENTENCE) for each in made) == 20


def test_a_page_is_held_out_in_all_its_languages() -> None:
    held_out = {
        page: {
            each.held_out
            for language in ("C", "fr", "zh_CN")
            for each in passages(language, "guide", str(page), "", SENTENCE)
        }
        for page in range(20 * HELD_OUT)
    }
    assert all(len(each) == 1 for each in held_out.values())
    assert 0 < sum(each == {True} for each in held_out.values()) < 40


def test_pairs_leave_out_held_out_pages_and_copies_of_english(tmp_path: Path) -> None:
    rows = [
        Passage("en", "guide", "one", "The minutes of meetings", SENTENCE, held_out=False),
        Passage("de", "guide", "one", "Die Protokolle", SENTENCE, held_out=False),
        Passage("de", "guide", "two", "", "Der Rat bewahrt Protokolle auf.", held_out=False),
        Passage("de", "guide", "three", "", "Dies bleibt ungesehen.", held_out=True),
    ]
    file = tmp_path / "texts.jsonl"
    file.write_text("".join(json.dumps(asdict(row)) + "\n" for row in rows), encoding="utf-8")
    drawn = draw_pairs(file, 100, seed=0)
    assert sorted((pair.language, pair.page) for pair in drawn) == [("de", "two"), ("en", "one")]
    assert all(pair.question.startswith(QUESTION) for pair in drawn)
    assert all(pair.passage.startswith(PASSAGE) for pair in drawn)


def test_pieces_are_found_behind_odd_spaces_and_control_characters() -> None:
    names = ["<s>", "<pad>", "</s>", "<unk>", "▁", "▁query", ":", "▁Rat", "▁ﬁ", "▁fi"]
    tokenizer = tokenizer_of([(name, -float(place)) for place, name in enumerate(names)])
    encoding = tokenizer.encode(f"{QUESTION}\u00a0 Rat\x00\t\ufb01")
    assert encoding.tokens == ["<s>", "▁query", ":", "▁Rat", "▁fi", "</s>"]
