"""Bytes to Markdown: detect, preflight, and one reader a format, in workers that may be killed."""
