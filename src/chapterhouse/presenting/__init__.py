"""Answers, hits and minutes as blocks, and one renderer of blocks for each format."""
