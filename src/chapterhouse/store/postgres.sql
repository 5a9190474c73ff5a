-- What PostgreSQL says in another way than queries.sql, under the same names.

-- search_memories
SELECT m.key, m.persona, m.asked, m.expires, m.question, m.answer, m.found, m.method, m.sources,
  m.sequence, t.question, t.answer
FROM memory_terms AS t JOIN memory AS m ON m.key = t.rowid
WHERE string_to_array(t.question || ' ' || t.answer, ' ')
    && string_to_array(trim(BOTH '"' FROM ?), '" OR "')
  AND m.persona IN (SELECT value FROM json_each(?)) AND (m.expires = 0 OR m.expires > ?)
ORDER BY m.key DESC;

-- finish_job
UPDATE job SET
  state = said.state, finished = ?2, lease_until = ?3, progress = ?4, attempts = ?5,
  result = CASE WHEN said.state = 'pending' OR said.result = '{}' THEN job.result
    ELSE said.result END,
  error = ?7, hint = ?8,
  arguments = CASE WHEN kind = 'upload' AND said.state IN ('done', 'partial')
    THEN (arguments::jsonb - 'file' - 'name')::text ELSE arguments END,
  lane = CASE WHEN kind = 'upload' AND said.state IN ('done', 'partial') THEN kind ELSE lane END
FROM (SELECT CAST(?1 AS text) AS state, CAST(?6 AS text) AS result) AS said
WHERE key = ?9 AND worker = ?10 AND job.state = 'running' RETURNING key;

-- uploads_of
SELECT key, arguments::jsonb ->> 'file' FROM job
WHERE kind = 'upload' AND jsonb_build_array(
  left(arguments::jsonb ->> 'file', 64), arguments::jsonb -> 'shelf'
) IN (SELECT value::jsonb FROM json_each(?));

-- forget_uploads
UPDATE job SET
  arguments = (arguments::jsonb || '{"file": "(removed)", "name": "(removed)"}')::text,
  lane = 'upload',
  progress = '{}',
  finished = CASE WHEN state IN ('pending', 'running')
    THEN extract(epoch FROM now())::bigint ELSE finished END,
  state = CASE WHEN state IN ('pending', 'running') THEN 'cancelled' ELSE state END,
  lease_until = 0
WHERE kind = 'upload' AND jsonb_build_array(
  left(arguments::jsonb ->> 'file', 64), arguments::jsonb -> 'shelf'
) IN (SELECT value::jsonb FROM json_each(?));

-- integrity
-- The server compares pages with their checksums as it reads them; see docs/operations.md.
SELECT 'ok';

-- quick_integrity
SELECT 'ok';

-- foreign_keys
SELECT conrelid::regclass::text FROM pg_constraint
WHERE connamespace = current_schema()::regnamespace AND contype = 'f' AND NOT convalidated;
