"""Every seam: what a step needs of another part, as a protocol of at most eight methods."""
