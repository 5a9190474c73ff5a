"""Office and OpenDocument files to Markdown."""
