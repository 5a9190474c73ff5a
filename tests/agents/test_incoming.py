import os
from pathlib import Path

import pytest

from chapterhouse.agents.curated import base_folder
from chapterhouse.agents.incoming import copy_in, links_of, list_links, parse_urls, reminders
from chapterhouse.errors import NotFoundError, RefusedError, UsageError


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    return tmp_path / "RAW-DOCS"


def test_a_file_is_copied_whole_with_its_time(tmp_path: Path, raw: Path) -> None:
    file = tmp_path / "tides.md"
    file.write_text("# Tides")
    os.utime(file, ns=(1_000, 1_700_000_000_000_000_000))
    (copied,) = copy_in([file], raw)
    assert copied == raw / "tides.md"
    assert copied.read_text() == "# Tides"
    assert copied.stat().st_mtime_ns == file.stat().st_mtime_ns
    assert list(raw.iterdir()) == [copied]
    assert copy_in([file], raw) == (copied,)


def test_another_file_is_never_written_over(tmp_path: Path, raw: Path) -> None:
    for folder, text in (("a", "one"), ("b", "two")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.md").write_text(text)
    copy_in([tmp_path / "a" / "x.md"], raw)
    with pytest.raises(RefusedError, match=r"another file called x\.md"):
        copy_in([tmp_path / "b" / "x.md"], raw)
    assert (raw / "x.md").read_text() == "one"
    (raw / "x.md").unlink()
    with pytest.raises(RefusedError):
        copy_in([tmp_path / "a" / "x.md", tmp_path / "b" / "x.md"], raw)
    assert (raw / "x.md").read_text() == "one"


def test_what_is_no_file_is_refused_before_anything_is_copied(tmp_path: Path, raw: Path) -> None:
    good, hidden = tmp_path / "good.md", tmp_path / ".hidden.md"
    good.write_text("x")
    hidden.write_text("x")
    for wrong in (tmp_path / "gone.md", tmp_path, hidden):
        with pytest.raises((NotFoundError, UsageError)):
            copy_in([good, wrong], raw)
        assert not raw.exists()


def test_addresses_are_listed_once(raw: Path) -> None:
    raw.mkdir()
    (raw / "more.links").write_text("https://example.org/known")
    (raw / "links.links").write_text("https://example.org/a | Title")
    links = parse_urls(
        ["https://EXAMPLE.org/b", "https://example.org/known", "https://example.org/b"]
    )
    assert [link.url for link in links] == ["https://example.org/b", "https://example.org/known"]
    list_links(links, raw)
    list_links(links, raw)
    assert (raw / "links.links").read_text() == (
        "https://example.org/a | Title\nhttps://example.org/b\n"
    )
    assert [link.url for link in links_of(raw)] == [
        "https://example.org/a", "https://example.org/b", "https://example.org/known",
    ]  # fmt: skip


@pytest.mark.parametrize("url", ["", "x", "ftp://example.org", "file:///etc/passwd", "# x", "a\nb"])
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(UsageError):
        parse_urls(["https://example.org/", url])


def test_a_merge_to_be_decided_and_a_bad_line_are_told(tmp_path: Path) -> None:
    raw, rag = tmp_path / "RAW-DOCS", tmp_path / "RAG"
    assert reminders(raw, rag) == ()
    raw.mkdir()
    base_folder(rag).mkdir(parents=True)
    (base_folder(rag) / "tides.new.md").write_text("x", "utf-8")
    (raw / "pages.links").write_text("https://example.org/a\nfile:///etc/passwd\n", "utf-8")
    waiting, line = reminders(raw, rag)
    assert "tides" in waiting
    assert "persona docs" in waiting
    assert "pages.links, line 2" in line
