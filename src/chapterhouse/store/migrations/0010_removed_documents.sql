-- Documents that were removed and may come back: what it takes to read their bytes again. Nothing of
-- their text is here; the bytes stay under their SHA-256 as long as a row names them.
CREATE TABLE removed (
  location TEXT PRIMARY KEY,  -- the latest of each place
  id TEXT NOT NULL,
  source TEXT NOT NULL,
  title TEXT NOT NULL,
  format TEXT NOT NULL,
  shelves TEXT NOT NULL,      -- JSON: names
  container TEXT NOT NULL,    -- source of the archive or message that it was in, or empty
  sha256 TEXT NOT NULL,
  size INTEGER NOT NULL,
  modified INTEGER NOT NULL,
  mtime_ns INTEGER NOT NULL,
  number INTEGER NOT NULL,    -- of the removal: what was removed together has the same
  removed INTEGER NOT NULL,   -- seconds
  until INTEGER NOT NULL      -- seconds; 0: until it is dropped by hand
) STRICT, WITHOUT ROWID;
CREATE INDEX removed_sha256 ON removed (sha256);
CREATE INDEX removed_until ON removed (until);
