-- What the library is to be the image of, and when it was brought to its state.

CREATE TABLE source (
  name TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  location TEXT NOT NULL,
  shelf TEXT NOT NULL,
  include TEXT NOT NULL,  -- JSON: patterns as in .gitignore
  exclude TEXT NOT NULL,  -- JSON: likewise
  maximum_bytes INTEGER NOT NULL,  -- 0: as the settings say
  synced INTEGER NOT NULL,  -- seconds; 0: never
  state TEXT NOT NULL,    -- what its folders looked like from outside then
  problem TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- When the file or its name last changed, which nobody can set; 0: not known.
ALTER TABLE file ADD COLUMN ctime_ns INTEGER NOT NULL DEFAULT 0;

-- When the document was read into the library, in seconds; 0: before this was recorded.
ALTER TABLE document ADD COLUMN ingested INTEGER NOT NULL DEFAULT 0;
