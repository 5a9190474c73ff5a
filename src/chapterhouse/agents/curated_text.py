"""The text of a curated document, made from what a reader extracted. Pure: no clock, no files."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date
from email.utils import parsedate_to_datetime
from typing import Final
from urllib.parse import urlsplit

from chapterhouse.agents.curated import is_document_id
from chapterhouse.reading.markdown import fence_after, is_page_mark, page_mark
from chapterhouse.text.aliases import find_aliases, fold_name
from chapterhouse.text.canonical import (
    LONGEST,
    Entry,
    field_values,
    join_front_matter,
    make_entry,
    split_front_matter,
)
from chapterhouse.text.key_terms import key_terms
from chapterhouse.text.language import detect
from chapterhouse.text.markdown import Block, BlockKind, blocks
from chapterhouse.text.sanitise import sanitise, sanitise_line
from chapterhouse.types import AliasKind, Extraction

_ISO: Final = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?!\d)")
_IN_NAME: Final = re.compile(
    r"(?<!\d)(?:(?P<y>(?:19|20)\d\d)(?P<mark>[-_.]?)(?P<m>\d\d)(?P=mark)(?P<d>\d\d)"
    r"|(?P<d2>\d\d)\.(?P<m2>\d\d)\.(?P<y2>(?:19|20)\d\d))(?!\d)"
)
_EARLIEST: Final = 1900
_DATE_FIELDS: Final = ("date", "published", "created")
_KINDS_BY_FORMAT: Final = {
    **dict.fromkeys(("eml", "msg"), "email"),
    **dict.fromkeys(("pptx", "ppt", "odp"), "slide"),
    **dict.fromkeys(("xlsx", "xlsb", "xls", "ods", "csv", "tsv"), "sheet"),
}
_KINDS_BY_WORD: Final = (
    (re.compile(r"\b(?:faqs?|frequently asked questions|häufige fragen)\b"), "faq"),
    (re.compile(r"\b(?:press (?:release|kit)|press|pressemitteilung|news release)\b"), "press"),
    (re.compile(r"\b(?:blog|blog post|weblog)\b"), "blog"),
    (
        re.compile(r"\b(?:spec|specs|specification|specifications|data ?sheet|spezifikation)\b"),
        "spec",
    ),
    (
        re.compile(r"\b(?:tech(?:nical)? (?:memo|note)s?|memo|memorandum|white ?paper)\b"),
        "tech_memo",
    ),
)
_CREATIVE: Final = re.compile(
    r"creativecommons\.org/(?:licenses/(by(?:-nc)?(?:-nd|-sa)?)/(\d\.\d)|publicdomain/(zero|mark))"
    r"|\bCC[ -](BY(?:-NC)?(?:-ND|-SA)?)[ -](\d\.\d)\b|\b(CC0)\b"
)
_STATED: Final = re.compile(
    r"SPDX-License-Identifier:[ \t]*([A-Za-z0-9.+-]{2,40})"
    r"|[Ll]icen[sc]ed under (?:the )?"
    r"(MIT|Apache(?: License)?,? (?:[Vv]ersion )?2\.0|GPL-?[23](?:\.0)?)"
)
_ALL_RIGHTS: Final = re.compile(r"\ball rights reserved\b", re.IGNORECASE)
_EDGE: Final = 3_000  # characters at either end of a text, where its licence is said
_LONGEST_URL: Final = 2_000


def evident_date(stem: str, metadata: Mapping[str, str], today: str) -> str:
    """Return the document's date as ISO, or nothing: that in its name, else what it states.

    A document of the future, after the ISO date ``today``, states something else.
    """
    stated = (metadata[name] for name in _DATE_FIELDS if name in metadata)
    found = (*_dates_in_name(stem), *(day for value in stated for day in _dates_stated(value)))
    return next((day for day in found if _is_date(day, today)), "")


def _dates_in_name(stem: str) -> Iterator[str]:
    for match in _IN_NAME.finditer(stem):
        year, month, day = (match[name] or match[f"{name}2"] for name in "ymd")
        yield f"{year}-{month}-{day}"


def _dates_stated(value: str) -> Iterator[str]:
    written = _ISO.match(value.strip())
    if written:
        yield "-".join(written.groups())
        return
    try:
        sent = parsedate_to_datetime(value[:200])
        yield (sent.astimezone(UTC) if sent.tzinfo else sent).date().isoformat()
    except (TypeError, ValueError, IndexError, OverflowError):
        return


def _is_date(day: str, today: str) -> bool:
    try:
        return date.fromisoformat(day).year >= _EARLIEST and day <= today
    except ValueError:
        return False


def evident_kind(stem: str, title: str, format_: str, url: str) -> str:
    """Return the kind of document, or nothing where neither name, title nor format says it."""
    if format_ in _KINDS_BY_FORMAT:
        return _KINDS_BY_FORMAT[format_]
    path = urlsplit(url).path if url else ""
    for text in (stem, title, path):
        words = re.sub(r"[\W_]+", " ", text.casefold())
        for pattern, kind in _KINDS_BY_WORD:
            if pattern.search(words):
                return kind
    return "web" if format_ == "html" or url else ""


def evident_url(candidates: Iterable[str]) -> str:
    """Return the first address that is one of the web and carries no name or password."""
    for candidate in candidates:
        address = candidate.strip()
        if len(address) > _LONGEST_URL or re.search(r"[\s<>\"'`\\]", address):
            continue
        try:
            parts = urlsplit(address)
            plain = parts.scheme in {"http", "https"} and parts.hostname and "@" not in parts.netloc
        except ValueError:
            continue
        if plain:
            return address
    return ""


def evident_license(metadata: Mapping[str, str], text: str) -> str:
    """Return the licence that a document states of itself, in short, or nothing."""
    stated = metadata.get("license", "") or metadata.get("rights", "")
    edges = (stated, text[:_EDGE], text[-_EDGE:])
    for edge in edges:
        if (creative := _CREATIVE.search(edge)) is not None:
            terms, version, domain, terms2, version2, _ = creative.groups()
            if terms or terms2:
                return f"cc-{(terms or terms2).lower()}-{version or version2}"
            return "public" if domain == "mark" else "cc0"
        if (named := _STATED.search(edge)) is not None:
            return named[1] or ("Apache-2.0" if named[2].startswith("Apache") else named[2])
    return "proprietary" if any(map(_ALL_RIGHTS.search, edges)) else ""


_TITLE_MAXIMUM: Final = 200
_SUMMARY_MAXIMUM: Final = 300
_SUMMARY_WORDS: Final = 6
_SUMMARY_MINIMUM: Final = 40  # characters; less is a line of a title page
_SUMMARY_EASTERN: Final = 12  # characters, where words are not told apart
_TERMS: Final = 12
_DEEPEST: Final = 6
_NEAR_TOP: Final = 1_000  # characters before a heading that still is the document's title
_ALIAS_SHARE: Final = 0.6  # of a title's words that a name must be to be another name of it
_HEADING_LINE: Final = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")
_LISTED: Final = re.compile(
    r"^\**(key terms|also known as)\**[ \t]*:", re.IGNORECASE | re.MULTILINE
)
_NO_TITLE: Final = frozenset(
    ("", "contents", "table of contents", "abstract", "introduction", "summary", "agenda",
     "untitled", "inhalt", "inhaltsverzeichnis", "einleitung", "sommaire", "résumé", "índice",
     "目录", "目次")
)  # fmt: skip
_WORDS: Final = re.compile(r"\w+(?:[-'’./&]\w+)*")
_LETTER_LINE: Final = re.compile(r"[A-Z][a-z]+: ")  # the head of a message
_SEPARATORS: Final = frozenset(",;|·•*[]")
# What a page of the web may not say of itself: whose it is, and where it came from.
_NOT_A_PAGES_OWN: Final = frozenset({"id", "personas", "source_url", "license"})
_ALWAYS_OURS: Final = frozenset({"source_file", "extracted_via"})


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a document comes from.

    Attributes:
        source: Name of the file below RAW-DOCS.
        title: What the list of pages calls it, or empty.
    """

    id: str
    source: str
    slug: str
    today: str
    url: str = ""
    title: str = ""

    @property
    def stem(self) -> str:
        """The file's own name without its ending."""
        name = self.source.rpartition("/")[2]
        return name.rpartition(".")[0] or name


def curated_text(extraction: Extraction, origin: Origin) -> str:
    """Return the whole curated document: front matter, names, and the body as Markdown.

    Raises ``ValueError`` where there is no text in it.
    """
    own, pages = _pages(extraction)
    own = tuple(entry for entry in own if _may_state(entry, origin))
    stated = next((" ".join(field_values(entry)) for entry in own if entry.name == "title"), "")
    title, body = _body(pages, extraction, origin, sanitise_line(stated))
    if not any(page.text for page in pages):
        raise ValueError(f"{origin.source} holds no text.")
    plain = "\n\n".join(page.text for page in pages)
    names = _names(title, plain)
    found = key_terms(f"# {title}\n\n{plain}", detect(plain), limit=_TERMS + 1)
    terms = [term for term in found if fold_name(term) != fold_name(title)][:_TERMS]
    fields = _fields(extraction, origin, title, plain)
    lines = [f"**{label}**: {', '.join(listed)}" for label, listed in _lists(terms, names, plain)]
    above = "".join(f"{line}\n" for line in lines)
    return join_front_matter(_with_own(fields, own), f"\n{above}\n{body}" if above else f"\n{body}")


def source_field(source: str) -> str:
    """Return how the name of a source stands in front matter."""
    return sanitise_line(source)[-_TITLE_MAXIMUM:].strip()


# --- pages ---


@dataclass(frozen=True, slots=True)
class _Page:
    mark: str
    text: str


def _pages(extraction: Extraction) -> tuple[tuple[Entry, ...], list[_Page]]:
    """Return the front matter that a Markdown file has itself, and every page, cleaned."""
    own: tuple[Entry, ...] = ()
    pages: list[_Page] = []
    for number, page in enumerate(extraction.pages):
        text = sanitise(page.text).text
        if number == 0 and extraction.format == "md":
            own, text = split_front_matter(text)
        marked = bool(extraction.page_kind) and page.number is not None
        mark = page_mark(extraction.page_kind, page.number or 0, page.label) if marked else ""
        pages.append(_Page(mark, _clean(text, markdown=extraction.markdown)))
    return own, pages


def _clean(text: str, *, markdown: bool) -> str:
    """Return Markdown without runs of blank lines, open code and lines that pass for marks."""
    lines: list[str] = []
    fence = ""
    for line in text.split("\n"):
        inside, fence = fence, fence_after(fence, line)
        if inside or fence:
            lines.append(line)
            continue
        tidy = line.rstrip() + ("  " if line.endswith("  ") and line.strip() else "")
        if is_page_mark(tidy) or (not markdown and _HEADING_LINE.match(tidy)):
            indent = len(tidy) - len(tidy.lstrip())
            tidy = f"{tidy[:indent]}\\{tidy[indent:]}"
        if tidy or (lines and lines[-1]):
            lines.append(tidy)
    return "\n".join((*lines, fence) if fence else lines).strip("\n")


# --- title and headings ---


@dataclass(frozen=True, slots=True)
class _Heading:
    page: int
    block: Block
    before: int  # characters of text in front of it


def _headings(pages: Sequence[_Page]) -> Iterator[_Heading]:
    before = 0
    for number, page in enumerate(pages):
        for block in blocks(page.text):
            if block.kind is BlockKind.HEADING and block.title:
                yield _Heading(number, block, before)
            before += block.end - block.start


def _body(
    pages: Sequence[_Page], extraction: Extraction, origin: Origin, stated: str
) -> tuple[str, str]:
    """Return the title, and the body under it with one heading of the first level."""
    first = next(_headings(pages), None)
    named = first.block.title if first and _names_document(first, extraction) else ""
    later = first.block.title if first and extraction.page_kind != "sheet" else ""
    candidates = (stated, named, origin.title, extraction.title, later)
    usable = (sanitise_line(text)[:_TITLE_MAXIMUM].strip() for text in candidates)
    title = next((text for text in usable if fold_name(text) not in _NO_TITLE), "") or _readable(
        origin.stem
    )
    leads = first is not None and first.before == 0 and bool(named)
    heading = first if first and (leads or _same(first.block.title, title, first)) else None
    trail: list[int] = []
    parts = [] if leads else [f"# {title}"]
    for number, page in enumerate(pages):
        text = _relevelled(page.text, number, heading, trail, preserve=leads)
        if text:
            parts += [page.mark, text] if page.mark else [text]
    return title, "\n\n".join(parts) + "\n"


def _names_document(first: _Heading, extraction: Extraction) -> bool:
    near = first.before <= _NEAR_TOP and extraction.page_kind != "sheet"
    return near and fold_name(first.block.title) not in _NO_TITLE


def _same(heading: str, title: str, first: _Heading) -> bool:
    return first.before <= _NEAR_TOP and fold_name(heading) == fold_name(title)


def _readable(stem: str) -> str:
    words = sanitise_line(re.sub(r"[_\-\s]+", " ", stem))
    return words[:1].upper() + words[1:_TITLE_MAXIMUM] if words else "Document"


def _relevelled(
    text: str, page: int, heading: _Heading | None, trail: list[int], *, preserve: bool
) -> str:
    """Return a page with its headings below the title's and no level left out.

    The title's own heading becomes the first level, or goes where it was written above already.
    """
    parts: list[str] = []
    for block in blocks(text):
        if block.kind is not BlockKind.HEADING:
            parts.append(text[block.start : block.end])
            continue
        if heading is not None and heading.page == page and heading.block == block:
            parts += [f"# {block.title}\n\n"] if preserve else []
        elif block.title:
            while trail and trail[-1] >= block.level:
                trail.pop()
            trail.append(block.level)
            parts.append(f"{'#' * min(len(trail) + 1, _DEEPEST)} {block.title}\n\n")
    return _spaced(parts).strip("\n")


def _spaced(parts: Iterable[str]) -> str:
    """Join blocks so that a heading has a blank line before it."""
    joined = ""
    for part in parts:
        if part.startswith("#") and joined and not joined.endswith("\n\n"):
            joined += "\n" if joined.endswith("\n") else "\n\n"
        joined += part
    return joined


# --- fields ---


def _fields(extraction: Extraction, origin: Origin, title: str, text: str) -> list[Entry]:
    """Return what can be said of a document, the most important first."""
    metadata = {name: sanitise_line(value) for name, value in extraction.metadata.items()}
    url = evident_url((origin.url,) if origin.url else (metadata.get("url", ""),))
    fields: dict[str, str | Sequence[str]] = {
        "id": origin.id,
        "title": title,
        "date": evident_date(origin.stem, metadata, origin.today),
        "source_url": url,
        "source_file": source_field(origin.source),
        "type": evident_kind(origin.stem, title, extraction.format, url),
        "license": evident_license(metadata, text),
        "personas": [origin.slug],
        "summary": _summary(metadata.get("description", "")),
        "extracted_via": extraction.method[:_TITLE_MAXIMUM],
    }
    entries = (make_entry(name, value) for name, value in fields.items())
    return [entry for entry in entries if field_values(entry)]


def _may_state(entry: Entry, origin: Origin) -> bool:
    """Whether a document's own word for a field counts."""
    if entry.name in _ALWAYS_OURS or (origin.url and entry.name in _NOT_A_PAGES_OWN):
        return False
    values = field_values(entry)
    return entry.name != "id" or (len(values) == 1 and is_document_id(values[0]))


def _with_own(fields: Sequence[Entry], own: Sequence[Entry]) -> list[Entry]:
    """Put a file's own fields in the place of generated ones; they are kept as they are written.

    Generated fields go, the last first, where all together would be too long to be read.
    """
    stated = {entry.name: entry for entry in own if entry.name and field_values(entry)}
    merged = [stated.get(entry.name, entry) for entry in fields]
    there = {entry.name for entry in merged}
    merged += [entry for entry in own if entry.name not in there or not entry.name]
    available = LONGEST - len("---\n---\n") - sum(len(entry.lines) + 1 for entry in merged)
    for entry in reversed(fields):
        if available < 0 and entry in merged:
            merged.remove(entry)
            available += len(entry.lines) + 1
    return merged


def _summary(description: str) -> str:
    """Return the description that a document states of itself, where it is a sentence."""
    eastern = len(re.findall(r"[\u3040-\u30ff\u3400-\u9fff]", description))
    enough = len(description.split()) >= _SUMMARY_WORDS and len(description) >= _SUMMARY_MINIMUM
    fits = len(description) <= _SUMMARY_MAXIMUM and description[:1] not in set("|>-#*+<\\")
    return description if fits and (enough or eastern >= _SUMMARY_EASTERN) else ""


# --- names ---


def _lists(
    terms: Sequence[str], names: Sequence[str], text: str
) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the lines of names above the body; none that the document has itself."""
    stated = {match[1].casefold() for match in _LISTED.finditer(text)}
    listed = [term for term in terms if _SEPARATORS.isdisjoint(term)]
    for label, found in (("Key Terms", listed), ("Also Known As", names)):
        if found and label.casefold() not in stated:
            yield label, found


def _names(title: str, text: str) -> list[str]:
    """Return other names of what the document is about, not of what it only mentions."""
    about = fold_name(title)
    found: dict[str, None] = {}
    for alias in (*find_aliases(title, title), *find_aliases("", text)):
        if alias.kind is AliasKind.KEY_TERM:
            continue
        for name, other in ((alias.name, alias.other), (alias.other, alias.name)):
            if _is_mostly(fold_name(name), about) and _SEPARATORS.isdisjoint(other):
                found[sanitise_line(other)] = None
    return [name for name in found if fold_name(name) != about][:_TERMS]


def _is_mostly(name: str, title: str) -> bool:
    """Whether a name stands in a title and is most of it."""
    padded = f" {' '.join(_WORDS.findall(title))} "
    words = len(padded.split())
    return bool(words) and f" {name} " in padded and len(name.split()) >= _ALIAS_SHARE * words
