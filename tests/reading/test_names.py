from collections.abc import Mapping

from chapterhouse.reading import names
from chapterhouse.reading.formats import supported_formats


def test_every_format_has_its_row(documents: Mapping[str, bytes]) -> None:
    rows = {row.format: row for row in supported_formats()}
    assert rows.keys() == names.EXTENSIONS.keys() | {"code"}
    assert documents.keys() <= rows.keys()
    for row in rows.values():
        assert row.extensions
        assert row.method
        assert row.available or row.format in names.IMAGES, row
