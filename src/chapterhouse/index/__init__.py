"""What is derived from the store so that it can be searched fast, and thrown away at will."""
