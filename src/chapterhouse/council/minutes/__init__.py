"""Minutes as people and machines read them: Markdown, HTML, a bundle."""
