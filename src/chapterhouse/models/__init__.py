"""Embedders, later rerankers and language models; each is imported when it is asked for."""
