-- What the rows of a document came to when they were written, so that a changed byte shows.
-- Documents of before have none until they are read again.
CREATE TABLE checksum (
  document INTEGER PRIMARY KEY REFERENCES document ON DELETE CASCADE,
  shelves TEXT NOT NULL,     -- JSON: sorted; once more, to restore lost memberships from
  rows_sha256 TEXT NOT NULL  -- of document, shelves, sections, pages and chunks
) STRICT;

-- What a remembered answer cited; null: not known, for memories of before.
ALTER TABLE memory ADD COLUMN citations TEXT NOT NULL DEFAULT 'null';
