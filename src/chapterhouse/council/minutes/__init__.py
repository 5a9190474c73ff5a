"""Minutes as people and machines read them: Markdown, HTML, a decision record, a bundle."""
