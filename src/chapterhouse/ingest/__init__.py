"""A document's life: added, replaced, read again, removed, examined."""
