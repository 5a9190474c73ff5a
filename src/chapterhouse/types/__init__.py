"""The values that travel through Chapterhouse: frozen, standard library only.

Offsets are counts of Unicode code points into ``Body.text`` (the canonical text of a document),
half open: ``text[start:end]``. Times are whole seconds since 1970 in UTC. Hashes are lower-case
hexadecimal SHA-256.
"""

from chapterhouse.types.asking import (
    Answer,
    AnswerSentence,
    Citation,
    Hit,
    Query,
    Scored,
    Searched,
    SearchResult,
    WeightedTerm,
)
from chapterhouse.types.documents import (
    BENIGN_NOTICES,
    DEFAULT_SHELF,
    Body,
    Chunk,
    Document,
    ExtractedPage,
    Extraction,
    Kind,
    Notice,
    Page,
    Section,
    Span,
    Status,
    shelf_names,
)
from chapterhouse.types.ledger import (
    AddReport,
    Change,
    FileOutcome,
    FileRecord,
    Progress,
)
from chapterhouse.types.state import (
    Census,
    Check,
    FormatSupport,
    LibraryStatus,
)

__all__ = [
    "BENIGN_NOTICES",
    "DEFAULT_SHELF",
    "AddReport",
    "Answer",
    "AnswerSentence",
    "Body",
    "Census",
    "Change",
    "Check",
    "Chunk",
    "Citation",
    "Document",
    "ExtractedPage",
    "Extraction",
    "FileOutcome",
    "FileRecord",
    "FormatSupport",
    "Hit",
    "Kind",
    "LibraryStatus",
    "Notice",
    "Page",
    "Progress",
    "Query",
    "Scored",
    "SearchResult",
    "Searched",
    "Section",
    "Span",
    "Status",
    "WeightedTerm",
    "shelf_names",
]
