-- Files that all machines with one database have.

-- add_upload
INSERT INTO shared_file (path, version, modified, bytes) VALUES (?, 0, ?, ?) ON CONFLICT DO NOTHING;

-- uploads
SELECT path FROM shared_file WHERE version = 0 AND modified <= ?;

-- drop_upload
DELETE FROM shared_file WHERE path = ? AND version = 0;

-- bytes
SELECT bytes FROM shared_file WHERE path = ?;

-- version
SELECT coalesce(max(version), 0) FROM shared_file;

-- changes
SELECT path, version, modified, bytes IS NOT NULL FROM shared_file
WHERE version > ? ORDER BY version;

-- write_file
INSERT INTO shared_file (path, version, modified, bytes)
VALUES (?1, (SELECT coalesce(max(version), 0) + 1 FROM shared_file), ?2, ?3)
ON CONFLICT (path) DO UPDATE SET
  version = excluded.version, modified = excluded.modified, bytes = excluded.bytes
RETURNING version;
