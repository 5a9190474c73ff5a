-- One library: documents, what belongs to each, and the order in which they changed.

-- The number of the latest change. One row.
CREATE TABLE counter (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  sequence INTEGER NOT NULL
) STRICT;
INSERT INTO counter (id, sequence) VALUES (1, 0);

CREATE TABLE document (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  source TEXT NOT NULL,
  location TEXT NOT NULL UNIQUE,
  title TEXT NOT NULL,
  format TEXT NOT NULL,
  method TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  text_sha256 TEXT NOT NULL,
  size INTEGER NOT NULL,
  modified INTEGER NOT NULL,
  status TEXT NOT NULL,
  page_kind TEXT NOT NULL,
  language TEXT NOT NULL,
  notices TEXT NOT NULL,   -- JSON: [[code, sentence, page], ...]
  metadata TEXT NOT NULL,  -- JSON: {name: value}
  characters INTEGER NOT NULL,
  chunks INTEGER NOT NULL,
  sequence INTEGER NOT NULL UNIQUE  -- its latest change
) STRICT;
CREATE INDEX document_sha256 ON document (sha256);

-- What was removed, and when; a document that comes back loses its row here.
CREATE TABLE removal (
  document_id TEXT PRIMARY KEY,
  sequence INTEGER NOT NULL UNIQUE
) STRICT, WITHOUT ROWID;

CREATE TABLE membership (
  document INTEGER NOT NULL REFERENCES document ON DELETE CASCADE,
  shelf TEXT NOT NULL,
  PRIMARY KEY (document, shelf)
) STRICT, WITHOUT ROWID;
CREATE INDEX membership_shelf ON membership (shelf, document);

CREATE TABLE body (
  document INTEGER PRIMARY KEY REFERENCES document ON DELETE CASCADE,
  text TEXT NOT NULL
) STRICT;

CREATE TABLE section (
  document INTEGER NOT NULL REFERENCES document ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  level INTEGER NOT NULL,
  path TEXT NOT NULL,  -- JSON: titles, outermost first
  "start" INTEGER NOT NULL,
  "end" INTEGER NOT NULL,
  PRIMARY KEY (document, ordinal)
) STRICT, WITHOUT ROWID;

CREATE TABLE page (
  document INTEGER NOT NULL REFERENCES document ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  number INTEGER NOT NULL,
  label TEXT NOT NULL,
  "start" INTEGER NOT NULL,
  "end" INTEGER NOT NULL,
  PRIMARY KEY (document, ordinal)
) STRICT, WITHOUT ROWID;

-- AUTOINCREMENT: an index that is behind must never find another chunk under an old key.
CREATE TABLE chunk (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  document INTEGER NOT NULL REFERENCES document ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  "start" INTEGER NOT NULL,
  "end" INTEGER NOT NULL,
  text TEXT NOT NULL,
  kind TEXT NOT NULL,
  header TEXT NOT NULL,
  section_path TEXT NOT NULL,  -- JSON: titles, outermost first
  page INTEGER,
  page_label TEXT NOT NULL,
  tokens INTEGER NOT NULL,
  UNIQUE (document, ordinal)
) STRICT;

-- The vectors of a document in one row: they are only ever written and read together.
CREATE TABLE embedding (
  document INTEGER NOT NULL REFERENCES document ON DELETE CASCADE,
  fingerprint TEXT NOT NULL,
  dimensions INTEGER NOT NULL,
  vectors BLOB NOT NULL,  -- little-endian float16, one row a chunk in order of ordinal
  PRIMARY KEY (document, fingerprint)
) STRICT;

-- The bytes of small files; larger ones are blobs beside the database.
CREATE TABLE content (
  sha256 TEXT PRIMARY KEY,
  bytes BLOB NOT NULL
) STRICT;

-- What became of each file the last time it was looked at.
CREATE TABLE file (
  location TEXT PRIMARY KEY,
  source TEXT NOT NULL,
  size INTEGER NOT NULL,
  mtime_ns INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  status TEXT NOT NULL,
  code TEXT NOT NULL,
  sentence TEXT NOT NULL,
  document_id TEXT NOT NULL,
  format TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The folders that were added, and the name each gives to the sources below it.
CREATE TABLE root (
  location TEXT PRIMARY KEY,
  label TEXT NOT NULL UNIQUE
) STRICT, WITHOUT ROWID;
