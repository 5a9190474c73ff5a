import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from chapterhouse.reading.dispatch import read
from chapterhouse.reading.limits import Limits
from chapterhouse.types import Extraction

SRT = """1
00:00:01,000 --> 00:00:03,000
<i>The ferry leaves at nine,</i>
and returns

2
00:00:03,200 --> 00:00:05,000 X1:40 X2:600
{\\an8}in the <font color="#ff0000">evening</font>.

3
01:02:03,004 --> 01:02:06,000
42

4
01:02:06,000 --> 01:02:08,000
is the answer if x < y.
"""
VTT = """WEBVTT - Talk
Kind: captions

STYLE
::cue { color: red }

NOTE made by hand
--- not spoken

intro
00:01.000 --> 00:04.000 align:start
<v.loud Mary Ann>Hi &amp; <00:00:02.000><c>welcome</c>!</v>
<v Roger>Hello.

00:04.000 --> 00:05.000
<v Roger><ruby>Notes<rt>NOTE</rt></ruby> begin
"""


def one(text: str, name: str) -> Extraction:
    return read(text.encode(), name, Limits())


def text_of(text: str, name: str) -> str:
    return one(text, name).pages[0].text


def test_cues_become_paragraphs_with_their_time() -> None:
    extraction = one(SRT, "a.srt")
    assert extraction.pages[0].text == (
        "[00:00:01] The ferry leaves at nine, and returns in the evening.\n\n"
        "[01:02:03] 42 is the answer if x < y."
    )
    assert (extraction.format, extraction.markdown, extraction.notices) == ("srt", False, ())
    assert text_of(SRT.replace("\n", "\r\n"), "a.srt") == extraction.pages[0].text


def test_voices_are_named_and_styles_and_notes_are_not_said() -> None:
    assert text_of(VTT, "a.vtt") == (
        "[00:00:01] Mary Ann: Hi & welcome!\n\n[00:00:01] Roger: Hello. NotesNOTE begin"
    )


def test_rolling_captions_are_said_once() -> None:
    rolling = (
        "WEBVTT\n\n00:01.000 --> 00:03.000\n \nthe<00:00:01.500><c> ferry</c>\n\n"
        "00:03.000 --> 00:03.010\nthe ferry\n \n\n"
        "00:03.010 --> 00:05.000\nthe ferry\nleaves<00:00:04.000><c> now</c>\n"
    )
    assert text_of(rolling, "a.vtt") == "[00:00:01] the ferry leaves now"


def test_words_without_a_time_and_cues_without_blank_lines_are_kept() -> None:
    source = (
        "1\n00:00:01,000 --> 00:00:02,000\nfirst\n2\n00:00:02,000 --> 00:00:03,000\nsecond\n\n"
        "third, behind a blank line\n\n3\n00:00:03 -> 00:00:04\nfourth\n"
    )
    text = text_of(source, "a.srt")
    assert text.startswith("[00:00:01] first second third, behind a blank line")
    assert text.endswith("fourth")


@pytest.mark.parametrize("name", ["a.srt", "a.vtt"])
def test_what_is_no_subtitle_is_text(name: str) -> None:
    extraction = one("Dear all,\n", name)
    assert extraction.format == "txt"
    assert [notice.code for notice in extraction.notices] == ["extension-mismatch"]


def test_subtitles_without_words_say_so() -> None:
    extraction = one("WEBVTT\n\nNOTE nothing\n", "a.vtt")
    assert [notice.code for notice in extraction.notices] == ["no-text"]


def test_long_speech_is_cut_where_sentences_end() -> None:
    cues = "".join(
        f"{n}\n00:{n // 60:02}:{n % 60:02},000 --> 00:{n // 60:02}:{n % 60:02},900\n"
        f"Sentence {n} says very little.\n\n"
        for n in range(1, 100)
    )
    paragraphs = text_of(cues, "a.srt").split("\n\n")
    assert len(paragraphs) > 3
    assert all(500 <= len(paragraph) < 600 for paragraph in paragraphs[:-1])


WORDS = st.lists(st.text("abcXYZäß", min_size=1, max_size=8), min_size=1, max_size=6)


@example([["ßßß", "ßßß"]], "srt")
@given(st.lists(WORDS, min_size=1, max_size=8), st.sampled_from(["srt", "vtt"]))
def test_every_word_is_there_in_order(cues: list[list[str]], format_: str) -> None:
    head = "WEBVTT\n\n" if format_ == "vtt" else ""
    body = "\n\n".join(
        f"{n}\n00:00:{n:02}.000 --> 00:00:{n:02}.500\n{' '.join(words)}"
        for n, words in enumerate(cues, 1)
    )
    said = [word for word in text_of(head + body, f"a.{format_}").split() if "[" not in word]
    assert said == [word for words in cues for word in words]
