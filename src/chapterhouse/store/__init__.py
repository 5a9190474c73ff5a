"""Where the truth is kept: documents in SQLite, larger files as blobs beside it."""
