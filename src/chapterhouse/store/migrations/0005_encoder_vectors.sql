-- Vectors that are made after their document was stored, and the encoder that questions use.

-- The number of the latest vectors that were added to a stored document. Apart from the documents'
-- sequence: vectors that come later change no document, so nothing else has to be indexed again.
ALTER TABLE counter ADD COLUMN embedding INTEGER NOT NULL DEFAULT 0;

-- 0: stored together with its document, and announced by the document's own sequence.
ALTER TABLE embedding ADD COLUMN sequence INTEGER NOT NULL DEFAULT 0;
DROP INDEX embedding_fingerprint;
CREATE INDEX embedding_fingerprint ON embedding (fingerprint, sequence, document);

-- One row a role; without an active row questions use the built-in table.
CREATE TABLE encoder (
  role TEXT PRIMARY KEY CHECK (role IN ('active', 'previous', 'building')),
  fingerprint TEXT NOT NULL,
  settings TEXT NOT NULL,           -- JSON: the section [embedding] that opens it
  problem TEXT NOT NULL DEFAULT ''  -- why its vectors could not be made the last time
) STRICT, WITHOUT ROWID;
