"""Embedders, rerankers and language models; each is imported when the settings name it."""
