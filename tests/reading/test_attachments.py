import base64
from pathlib import Path

import pytest
from tests.reading.pdf_writer import Page, write_pdf

from chapterhouse import extract_for_attachment, extract_text
from chapterhouse.errors import NotFoundError, RejectedError
from chapterhouse.reading.attachments import MAXIMUM_IMAGE

PNG = b"\x89PNG\r\n\x1a\n" + bytes(40)


def test_the_text_of_a_file_is_had_without_a_library(tmp_path: Path) -> None:
    (tmp_path / "tariffs.pdf").write_bytes(write_pdf([Page().text(72, 60, "A berth costs 80.")]))
    assert "A berth costs 80." in extract_text(tmp_path / "tariffs.pdf")
    attached = extract_for_attachment(str(tmp_path / "tariffs.pdf"))
    assert (attached.type, attached.name) == ("text", "tariffs.pdf")
    assert attached.data == extract_text(tmp_path / "tariffs.pdf")


def test_an_image_is_attached_in_base64_whatever_its_name(tmp_path: Path) -> None:
    (tmp_path / "gate.dat").write_bytes(PNG)
    attached = extract_for_attachment(tmp_path / "gate.dat")
    assert (attached.type, attached.media_type) == ("image", "image/png")
    assert base64.b64decode(attached.data) == PNG


def test_what_cannot_be_attached_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "huge.png").write_bytes(PNG + bytes(MAXIMUM_IMAGE))
    (tmp_path / "empty.txt").write_text("")
    with pytest.raises(RejectedError, match=r"huge\.png has 4,194,352 bytes"):
        extract_for_attachment(tmp_path / "huge.png")
    with pytest.raises(RejectedError, match="empty"):
        extract_text(tmp_path / "empty.txt")
    with pytest.raises(NotFoundError, match="nowhere"):
        extract_text(tmp_path / "nowhere.pdf")
