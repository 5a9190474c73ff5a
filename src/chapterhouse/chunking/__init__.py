"""Cutting a document's text into chunks, by pure functions from a body to spans."""
