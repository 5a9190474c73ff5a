"""Search: hits and contexts without an answer."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from chapterhouse.answering.runtime import Runtime
from chapterhouse.answering.search import (
    check_query,
    context_sources_of,
    method_for,
    named_scope,
    packing_for,
    search,
)
from chapterhouse.errors import UsageError
from chapterhouse.retrieval.candidates import Method
from chapterhouse.retrieval.context import build_context, repack
from chapterhouse.settings import PackingSettings
from chapterhouse.settings_stored import overlay, require_possible
from chapterhouse.text.counting import estimate_tokens
from chapterhouse.types import Context, Query, SearchResult


class Search:
    """Finds passages in the documents of a workspace, on ``shelves`` alone where some are named.

    With ``documents``, names of documents and folders, in these alone. Documents with one of
    ``tags``, which the asker knows about, rank a little higher. An empty question, a number out of
    range or an unknown purpose is a UsageError.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    @property
    def method(self) -> Method:
        """Return the stages by which this library retrieves."""
        return method_for(self._runtime, self._runtime.settings, self._runtime.language_model(""))

    def method_with(self, values: Mapping[str, object]) -> Method:
        """Return the stages by which it would retrieve with other values of some settings.

        Raises:
            UsageError: a value does not fit, or only a file of the machine may name it first.
        """
        runtime = self._runtime
        for name, value in values.items():
            require_possible(name, value, runtime.settings)
        settings = overlay(runtime.settings, values)
        return method_for(runtime, settings, runtime.language_model(""))

    def hits(
        self,
        text: str,
        *,
        shelves: Sequence[str] | None = None,
        limit: int | None = None,
        per_document: int | None = None,
        tags: Sequence[str] = (),
        documents: Sequence[str] = (),
        method: Method | None = None,
    ) -> SearchResult:
        """Return the chunks that answer ``text`` best.

        Args:
            text: A question or words; "quoted phrases", identifiers and file names are found to
                the letter.
            limit: Number of hits, 1 to 1,000; the setting when None.
            per_document: At most so many of one document, 0 for no cap; the setting when None.
            method: The stages of retrieval; the library's own when None.
        """
        query = Query(text, named_scope(shelves), tags=tuple(tags))
        query = self._query(query, limit, per_document, documents)
        return search(query, self._runtime, method or self.method)

    def context(
        self,
        question: str,
        *,
        maximum: int | None = None,
        purpose: str = "",
        shelves: Sequence[str] | None = None,
        tags: Sequence[str] = (),
        documents: Sequence[str] = (),
    ) -> Context:
        """Return excerpts that answer ``question`` and fit ``maximum`` tokens.

        Args:
            maximum: Tokens; when None, those of ``purpose``, else the setting.
            purpose: What the context is for: a name in ``packing.budgets``.
        """
        packing = self._runtime.settings.packing
        stated = _budget_for(purpose, packing)
        budget = stated if maximum is None else maximum
        if budget < 1:
            raise UsageError(f"A context needs at least 1 token, not {budget}.")
        query = Query(question, named_scope(shelves), tags=tuple(tags))
        query = self._query(query, packing.hits, 0, documents)
        lookup = context_sources_of(self._runtime, query.scope)
        found = search(query, self._runtime, self.method)
        return build_context(found, lookup, budget, packing_for(packing))

    def prepare(self) -> None:
        """Bring the indexes up to date, which every search does first."""
        self._runtime.catch_up()

    def repack(self, context: Context, maximum: int) -> Context:
        """Fit a context to another number of tokens, without searching again."""
        if maximum < 1:
            raise UsageError(f"A context needs at least 1 token, not {maximum}.")
        packing = packing_for(self._runtime.settings.packing)
        return repack(context, estimate_tokens, maximum, packing)

    def _query(
        self,
        query: Query,
        limit: int | None = None,
        per_document: int | None = None,
        documents: Sequence[str] = (),
    ) -> Query:
        settings = self._runtime.settings.search
        query = replace(query, documents=frozenset(documents) or None)
        checked = check_query(query, self._runtime.store, limit, per_document, settings)
        self._runtime.catch_up()
        return checked


def _budget_for(purpose: str, packing: PackingSettings) -> int:
    """Return the tokens of a context for a purpose; the usual ones where none is named."""
    if not purpose:
        return packing.maximum
    if purpose not in packing.budgets:
        known = ", ".join(sorted(packing.budgets)) or "none"
        raise UsageError(
            f"There is no budget of tokens for '{purpose}'; there are: {known}.",
            hint="Name one of them, or add it to packing.budgets in the settings.",
        )
    return packing.budgets[purpose]
