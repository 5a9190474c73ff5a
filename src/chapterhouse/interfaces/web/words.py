"""What settings are called, and what their numbers count."""

from typing import Final

# Sections of settings that stand open, in this order; the others are folded.
OPEN: Final = ("answer", "memory", "analytics", "reading")
TITLES: Final = {
    "answer": "Answers",
    "memory": "History",
    "analytics": "Statistics",
    "reading": "Files",
    "search": "Search",
    "expansion": "Other forms of a question",
    "packing": "What a model is given",
    "language_model": "Language model",
    "embedding": "Encoder",
    "rerank": "Reranker",
    "chunking": "Chunks of documents",
    "cloud": "Cloud drives",
}
# How a setting is called, and what its number counts.
_WORDS: Final = {
    "answer.cache": ("Reuse a model's answer to the same question", ""),
    "answer.check": ("Check answers with", ""),
    "memory.enabled": ("Remember questions and answers", ""),
    "memory.days": ("Forget them after", "days (0: never)"),
    "memory.recall": ("Earlier answers given to a model", "(empty: 3 in a conversation)"),
    "analytics.enabled": ("Count questions", ""),
    "analytics.days": ("Delete counts after", "days (0: never)"),
    "analytics.text": ("Record the words of questions", ""),
    "reading.maximum_megabytes": ("Largest file", "MB"),
    "search.limit": ("Passages found by a search", ""),
    "search.per_document": ("Passages of one document, at most", "(0: any number)"),
    "search.fusion": ("Combine words and meaning by", ""),
    "search.duplicates": ("Leave out passages that are this alike", "0 to 1 (0: none)"),
    "expansion.names": ("Search for other names of the same thing", ""),
    "expansion.parts": ("Search for each part of a question", ""),
    "expansion.neighbours": ("Follow names from the first hits", ""),
    "expansion.rewrite": ("Let a model rephrase questions", ""),
    "expansion.model": ("Model that rephrases", "(empty: the one that answers)"),
    "packing.maximum": ("Longest text", "tokens"),
    "packing.budgets": ("Longest text by purpose", "tokens"),
    "packing.hits": ("Passages to choose from", ""),
    "packing.widen": ("Extend passages by", ""),
    "language_model.maximum_tokens": ("Longest answer", "tokens"),
    "language_model.thinking": ("Think first", ""),
    "embedding.batch": ("Passages at a time", ""),
    "embedding.background": ("Make vectors in the background", ""),
    "rerank.engine": ("Rerank with", ""),
    "rerank.depth": ("Passages to rerank", ""),
    "chunking.strategy": ("Split documents by", ""),
    "chunking.by_format": ("Split by format", ""),
    "chunking.target": ("Usual length", "characters (0: 700)"),
    "chunking.minimum": ("Shortest", "characters"),
    "chunking.maximum": ("Longest", "characters (0: 1,000 or 1,500)"),
    "chunking.overlap": ("Overlap", "characters"),
    "search.bm25_min_score": ("Least score by words", ""),
    "search.vector_threshold": ("Least similarity in meaning", "-1 to 1"),
    "search.min_similarity": ("Least final score", "0 to 1"),
    "search.recency": ("Prefer newer documents", "0 to 1"),
    "answer.words": ("Length of an answer, about", "words"),
}
_CHOICES: Final = {"": "(default)", "True": "Yes", "False": "No"}


def label(name: str) -> str:
    """Return what a setting is called."""
    return _WORDS.get(name, ("", ""))[0] or name.rpartition(".")[2].replace("_", " ").capitalize()


def unit(name: str) -> str:
    """Return what the number of a setting counts; empty where nothing is to be said."""
    return _WORDS.get(name, ("", ""))[1]


def choice(value: object) -> str:
    """Return how one of several values is called."""
    return _CHOICES.get(str(value), str(value).replace("-", " "))
