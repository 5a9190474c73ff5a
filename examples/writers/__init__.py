"""Small writers of office files: enough of each format for the example, in deterministic bytes."""
