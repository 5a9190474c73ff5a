"""Files that are written: only what nobody else made or edited is written over."""

from chapterhouse.interfaces.cli.output_files import is_marked, marked


def test_a_mark_holds_for_the_whole_file_alone() -> None:
    text = marked("# Minutes\n")
    assert is_marked(text.encode())
    for other in ("", "# Minutes\n", f" {text}", f"{text}\n", text.replace("M", "m", 1)):
        assert not is_marked(other.encode())
    twice = marked(text)
    assert is_marked(twice.encode())
