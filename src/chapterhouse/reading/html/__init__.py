"""Web pages to Markdown."""
