"""What was asked and how well it was answered, over HTTP: as JSON, and as tables."""

from typing import Annotated, Final

from fastapi import Query, Response

from chapterhouse.errors import NotFoundError
from chapterhouse.interfaces.api.routing import needs, router
from chapterhouse.interfaces.api.state import Exchanged
from chapterhouse.presenting.analytics import csv_text, tables
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


@analytics.get(
    "/{table}.csv", openapi_extra=READ, response_class=Response,
    responses={200: {"content": {"text/csv": {"schema": {"type": "string"}}}}},
)  # fmt: skip
async def show_table(
    exchange: Exchanged, table: str, days: Days = 30, limit: Limit = 1_000
) -> Response:
    """Return one table as CSV, in which no spreadsheet finds a formula."""
    report = await exchange.look(lambda library: library.analytics.report(days, limit=limit))
    found = tables(report)
    if table not in found:
        raise NotFoundError(
            f"There is no table '{table[:100]}'.", hint=f"There are: {', '.join(sorted(found))}"
        )
    headers = {"Content-Disposition": f'attachment; filename="{table}.csv"'}
    return Response(csv_text(found[table]), media_type="text/csv; charset=utf-8", headers=headers)
