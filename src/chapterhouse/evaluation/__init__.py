"""Measuring retrieval and answers on collections with known answers."""
