"""What was asked and how well it was answered, over HTTP."""

from typing import Annotated, Final

from fastapi import Query

from chapterhouse.interfaces.api.routing import needs, router
from chapterhouse.interfaces.api.state import Exchanged
from chapterhouse.types import Analytics, DocumentFigures
from chapterhouse.types.access import AccessLevel

READ: Final = needs(AccessLevel.READ, whole=True)
_MOST: Final = 1_000

analytics: Final = router("/api/analytics", "analytics")
document_analytics: Final = router("/api/documents/analytics", "documents")
Days = Annotated[int, Query(ge=0, le=36_500, description="Today included; 0: all.")]
Limit = Annotated[int, Query(ge=1, le=_MOST, description="Rows of each list.")]


@document_analytics.get("", openapi_extra=READ)
async def count_documents(exchange: Exchanged, days: Days = 30) -> DocumentFigures:
    """Count documents by status, format, shelf and age, and those that answers cite."""
    report = await exchange.look(lambda library: library.analytics.report(days, limit=1))
    return report.documents


@analytics.get("", openapi_extra=READ)
async def show_analytics(exchange: Exchanged, days: Days = 30, limit: Limit = 20) -> Analytics:
    """Say what was asked, how well it was answered, and what the documents lack."""
    return await exchange.look(lambda library: library.analytics.report(days, limit=limit))
