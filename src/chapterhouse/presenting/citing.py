"""Citations as every format may show them."""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from chapterhouse.text.naming import page_name
from chapterhouse.text.sanitise import sanitise, sanitise_line
from chapterhouse.types import Citation, Trust

# A plain web address: no spaces, no signs that would end it, no user before the host.
_ADDRESS: Final = re.compile(r"https?://[^\s<>\"\\`{}|^@/?#]+(?:[/?#][^\s<>\"\\`{}|^]{0,1900})?")


def clean(citation: Citation) -> Citation:
    """Return a citation without what nobody sees in it.

    It may have come out of a file, so a link is kept only where it is a plain web address. Of a
    document's text it is the quotation as it stands, line by line.
    """
    link = citation.link
    is_plain = _ADDRESS.fullmatch(link) and sanitise_line(link) == link
    return replace(
        citation,
        title=sanitise_line(citation.title),
        source=sanitise_line(citation.source),
        section_path=tuple(map(sanitise_line, citation.section_path)),
        page_kind=sanitise_line(citation.page_kind),
        page_label=sanitise_line(citation.page_label),
        header=sanitise_line(citation.header),
        quote=sanitise(citation.quote).text,
        text_sha256=sanitise_line(citation.text_sha256),
        marker=sanitise_line(citation.marker),
        year=sanitise_line(citation.year),
        link=link if is_plain else "",
    )


def distinguish_sources(cited: Iterable[tuple[str, Citation]]) -> tuple[tuple[str, Citation], ...]:
    """Return citations by how they are called, documents of one title and year with their files."""
    known = tuple(cited)
    sources: dict[tuple[str, str], dict[str, str]] = {}
    for _, one in known:
        sources.setdefault((one.title, one.year), {})[one.document_id] = one.source

    def named(one: Citation) -> Citation:
        alike = sources[one.title, one.year]
        others = [path for key, path in alike.items() if key != one.document_id]
        if not others or one.source in others:
            return one
        parts = one.source.split("/")
        for count in range(1, len(parts) + 1):
            own = parts[-count:]
            if all(other.split("/")[-count:] != own for other in others):
                break
        below = without_title(one.title, one.section_path)
        return replace(one, title=f"{one.title} ({'/'.join(own)})", section_path=below)

    return tuple((name, named(one)) for name, one in known)


def citation_line(citation: Citation, longest: int | None = None) -> str:
    """Return title, year, section and page of a citation, as in ``Guide (2024), §Setup, page 3``.

    The outermost heading is left out where it is the title again. Of what is not the user's own it
    ends with how far its source is trusted. ``longest`` counts characters of the title and of each
    heading.
    """
    year = f" ({citation.year})" if citation.year else ""
    path = without_title(citation.title, citation.section_path)
    parts = [f"{_cut(citation.title or citation.source, longest)}{year}"]
    parts += [f"§{' › '.join(_cut(heading, longest) for heading in path)}"] if path else []
    page = page_name(citation.page_kind, citation.page, citation.page_label)
    parts += [page] if page else []
    trust = "" if citation.trust is Trust.OWN else f" · {citation.trust}"
    return ", ".join(" ".join(part.split()) for part in parts) + trust


def _cut(text: str, longest: int | None) -> str:
    return text if longest is None or len(text) <= longest else f"{text[: longest - 1].rstrip()}…"


def without_title(title: str, section_path: tuple[str, ...]) -> tuple[str, ...]:
    """Return the headings below a title; the outermost often is the title again."""
    return section_path[1:] if section_path[:1] == (title,) else section_path
