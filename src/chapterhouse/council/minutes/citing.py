"""Citations as every form of the minutes may show them."""

from collections.abc import Iterator
from dataclasses import replace

from chapterhouse.answering.provenance import is_web_address
from chapterhouse.council.minutes.contents import all_citations
from chapterhouse.text.sanitise import sanitise_line
from chapterhouse.types import Citation, Minutes


def shown_citations(minutes: Minutes) -> Iterator[tuple[str, Citation]]:
    """Yield every citation by how it is called, without what nobody sees in it.

    Of a document's text that is the quotation to the letter. Minutes may also have come out of a
    file, so a link is kept only where it is a plain web address.
    """
    for name, one in all_citations(minutes):
        yield (
            name,
            replace(
                one,
                title=sanitise_line(one.title),
                source=sanitise_line(one.source),
                section_path=tuple(map(sanitise_line, one.section_path)),
                page_kind=sanitise_line(one.page_kind),
                page_label=sanitise_line(one.page_label),
                quote=sanitise_line(one.quote),
                text_sha256=sanitise_line(one.text_sha256),
                marker=sanitise_line(one.marker),
                year=sanitise_line(one.year),
                link=one.link if is_web_address(one.link) else "",
            ),
        )
