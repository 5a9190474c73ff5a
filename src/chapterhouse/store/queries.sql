-- Every statement of the stores, each under its name. Where PostgreSQL says something in another way,
-- postgres.sql has it under the same name.
--
-- A scope comes as its key: a JSON list of shelves, or null for everything.

-- next_sequence
UPDATE counter SET sequence = sequence + 1 RETURNING sequence;

-- sequence
SELECT sequence FROM counter;

-- document_at
SELECT key, id, sha256, location FROM document WHERE location = ?;

-- document_named
SELECT key, id, sha256, location FROM document WHERE id = ?;

-- put_document
INSERT INTO document (
  id, source, location, title, format, method, sha256, text_sha256, size, modified, status,
  page_kind, language, notices, metadata, characters, chunks, sequence, ingested, cut_by, author
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (location) DO UPDATE SET
  source = excluded.source, title = excluded.title, format = excluded.format,
  method = excluded.method, sha256 = excluded.sha256, text_sha256 = excluded.text_sha256,
  size = excluded.size, modified = excluded.modified, status = excluded.status,
  page_kind = excluded.page_kind, language = excluded.language, notices = excluded.notices,
  metadata = excluded.metadata, characters = excluded.characters, chunks = excluded.chunks,
  sequence = excluded.sequence, ingested = excluded.ingested, cut_by = excluded.cut_by, author = excluded.author
RETURNING key;

-- touch_document
UPDATE document SET sequence = ? WHERE key = ?;

-- clear_memberships
DELETE FROM membership WHERE document = ?;

-- clear_body
DELETE FROM body WHERE document = ?;

-- clear_sections
DELETE FROM section WHERE document = ?;

-- clear_pages
DELETE FROM page WHERE document = ?;

-- clear_chunks
DELETE FROM chunk WHERE document = ?;

-- clear_embeddings
DELETE FROM embedding WHERE document = ?;

-- put_membership
INSERT INTO membership (document, shelf) VALUES (?, ?);

-- put_body
INSERT INTO body (document, text) VALUES (?, ?);

-- put_section
INSERT INTO section (document, ordinal, level, path, "start", "end") VALUES (?, ?, ?, ?, ?, ?);

-- put_page
INSERT INTO page (document, ordinal, number, label, "start", "end") VALUES (?, ?, ?, ?, ?, ?);

-- put_chunk
INSERT INTO chunk (
  document, ordinal, "start", "end", text, kind, header, section_path, page, page_label, tokens,
  parents
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- put_embedding
INSERT INTO embedding (document, fingerprint, dimensions, vectors, sequence)
VALUES (?, ?, ?, ?, ?)
ON CONFLICT (document, fingerprint) DO UPDATE SET
  dimensions = excluded.dimensions, vectors = excluded.vectors, sequence = excluded.sequence;

-- next_embedding
UPDATE counter SET embedding = embedding + 1 RETURNING embedding;

-- last_embedding
SELECT coalesce(max(sequence), 0) FROM embedding WHERE fingerprint = ?;

-- embeddings_added
SELECT e.sequence, d.*,
  (SELECT json_group_array(shelf) FROM membership WHERE document = d.key) AS shelves
FROM embedding AS e JOIN document AS d ON d.key = e.document
WHERE e.fingerprint = ? AND e.sequence > ? ORDER BY e.sequence LIMIT ?;

-- documents_to_embed
SELECT d.*, (SELECT json_group_array(shelf) FROM membership WHERE document = d.key) AS shelves
FROM document AS d
WHERE d.id > ?3 AND d.chunks > 0 AND d.language IN (SELECT value FROM json_each(?2))
  AND NOT EXISTS (SELECT 1 FROM embedding WHERE document = d.key AND fingerprint = ?1)
ORDER BY d.id LIMIT ?4;

-- embedding_progress
SELECT count(e.document), count(*), coalesce(sum(d.chunks) FILTER (WHERE e.document IS NULL), 0)
FROM document AS d
LEFT JOIN embedding AS e ON e.document = d.key AND e.fingerprint = ?1
WHERE d.chunks > 0 AND d.language IN (SELECT value FROM json_each(?2));

-- languages
SELECT DISTINCT language FROM document;

-- other_embeddings
SELECT document, fingerprint FROM embedding
WHERE fingerprint NOT IN (SELECT value FROM json_each(?1)) LIMIT ?2;

-- drop_embedding
DELETE FROM embedding WHERE document = ? AND fingerprint = ?;

-- encoders
SELECT role, fingerprint, settings, problem FROM encoder;

-- put_encoder
INSERT INTO encoder (role, fingerprint, settings, problem) VALUES (?, ?, ?, '')
ON CONFLICT (role) DO UPDATE SET
  fingerprint = excluded.fingerprint, settings = excluded.settings, problem = '';

-- drop_encoder
DELETE FROM encoder WHERE role = ?;

-- put_encoder_problem
UPDATE encoder SET problem = ?1 WHERE fingerprint = ?2 AND problem <> ?1;

-- put_content
INSERT INTO content (sha256, bytes) VALUES (?, ?) ON CONFLICT DO NOTHING;

-- content
SELECT bytes FROM content WHERE sha256 = ?;

-- content_visible
SELECT EXISTS (
  SELECT 1 FROM document AS d JOIN membership AS m ON m.document = d.key
  WHERE d.sha256 = ?1 AND m.shelf IN (SELECT value FROM json_each(?2))
);

-- drop_content
DELETE FROM content
WHERE sha256 = ?1 AND NOT EXISTS (SELECT 1 FROM document WHERE sha256 = ?1);

-- referenced
SELECT EXISTS (SELECT 1 FROM document WHERE sha256 = ?1);

-- remove_document
DELETE FROM document WHERE key = ?;

-- put_removal
INSERT INTO removal (document_id, sequence) VALUES (?, ?)
ON CONFLICT (document_id) DO UPDATE SET sequence = excluded.sequence;

-- forget_removals
DELETE FROM removal WHERE sequence <= ?;

-- drop_removal
DELETE FROM removal WHERE document_id = ?;

-- documents
SELECT d.*, (SELECT json_group_array(shelf) FROM membership WHERE document = d.key) AS shelves
FROM document AS d
WHERE d.id > ?1 AND (?3 = '' OR instr(folded(d.title, d.source, d.author), ?3) > 0)
ORDER BY d.id LIMIT ?2;

-- documents_on_shelves
SELECT d.*, (SELECT json_group_array(shelf) FROM membership WHERE document = d.key) AS shelves
FROM document AS d
WHERE d.id > ?1 AND d.key IN (
  SELECT document FROM membership WHERE shelf IN (SELECT value FROM json_each(?4))
) AND (?3 = '' OR instr(folded(d.title, d.source, d.author), ?3) > 0)
ORDER BY d.id LIMIT ?2;

-- document
SELECT d.*, (SELECT json_group_array(shelf) FROM membership WHERE document = d.key) AS shelves
FROM document AS d
WHERE d.id = ?;

-- documents_among
SELECT d.*, (SELECT json_group_array(shelf) FROM membership WHERE document = d.key) AS shelves
FROM json_each(?) AS wanted
CROSS JOIN document AS d WHERE d.id = wanted.value;

-- census
SELECT language, count(*), sum(chunks) FROM document GROUP BY language ORDER BY language;

-- census_of_shelves
SELECT d.language, count(*), sum(d.chunks) FROM document AS d
WHERE d.key IN (
  SELECT document FROM membership WHERE shelf IN (SELECT value FROM json_each(?))
)
GROUP BY d.language ORDER BY d.language;

-- leaves_text_out
SELECT EXISTS (
  SELECT 1 FROM document AS d
  WHERE (d.status = 'partial' OR instr(d.notices, '"navigation-left-out"') > 0)
  AND (?1 = 'null' OR d.key IN (
    SELECT document FROM membership WHERE shelf IN (SELECT value FROM json_each(?1))
  ))
);

-- partly_read
SELECT d.source FROM document AS d
WHERE d.status = 'partial' AND (?1 = 'null' OR d.key IN (
  SELECT document FROM membership WHERE shelf IN (SELECT value FROM json_each(?1))
))
ORDER BY d.source, d.id;

-- counts
SELECT 'format', format, count(*) FROM document GROUP BY format
UNION ALL
SELECT 'status', status, count(*) FROM file GROUP BY status
UNION ALL
SELECT 'shelf', shelf, count(*) FROM membership GROUP BY shelf;

-- counts_of_shelves
WITH own AS (
  SELECT key, id, format FROM document WHERE key IN (
    SELECT document FROM membership WHERE shelf IN (SELECT value FROM json_each(?1))
  )
)
SELECT 'format', format, count(*) FROM own GROUP BY format
UNION ALL
SELECT 'status', status, count(*) FROM file WHERE document_id IN (SELECT id FROM own)
GROUP BY status
UNION ALL
SELECT 'shelf', shelf, count(*) FROM membership WHERE shelf IN (SELECT value FROM json_each(?1))
GROUP BY shelf;

-- unknown_shelves
SELECT value FROM json_each(?) AS wanted
WHERE NOT EXISTS (SELECT 1 FROM membership WHERE shelf = wanted.value)
ORDER BY value;

-- chunks_named
SELECT c.key FROM document AS d JOIN chunk AS c ON c.document = d.key
WHERE c.ordinal < ?2
AND lower(substr(d.source, length(rtrim(d.source, replace(d.source, '/', ''))) + 1)) = lower(?1)
AND (?3 = 'null' OR d.key IN (
  SELECT document FROM membership WHERE shelf IN (SELECT value FROM json_each(?3))
))
ORDER BY d.id, c.ordinal;

-- documents_changed
SELECT d.*, (SELECT json_group_array(shelf) FROM membership WHERE document = d.key) AS shelves
FROM document AS d
WHERE d.sequence > ? ORDER BY d.sequence LIMIT ?;

-- documents_removed
SELECT sequence, document_id FROM removal WHERE sequence > ? ORDER BY sequence LIMIT ?;

-- body
SELECT d.key, b.text FROM document AS d JOIN body AS b ON b.document = d.key
WHERE d.id = ?1 AND (?2 = 'null' OR EXISTS (
  SELECT 1 FROM membership WHERE document = d.key AND shelf IN (SELECT value FROM json_each(?2))
));

-- sections
SELECT ordinal, level, path, "start", "end" FROM section WHERE document = ? ORDER BY ordinal;

-- pages
SELECT number, label, "start", "end" FROM page WHERE document = ? ORDER BY ordinal;

-- chunks
SELECT
  d.id, c.ordinal, c."start", c."end", c.text, c.kind, c.header, c.section_path, c.page,
  c.page_label, c.tokens, c.parents, c.key
FROM json_each(?1) AS wanted
CROSS JOIN chunk AS c JOIN document AS d ON d.key = c.document
WHERE c.key = CAST(wanted.value AS BIGINT) AND (?2 = 'null' OR EXISTS (
  SELECT 1 FROM membership WHERE document = d.key AND shelf IN (SELECT value FROM json_each(?2))
));

-- documents_of
SELECT c.key, d.id
FROM json_each(?1) AS wanted
CROSS JOIN chunk AS c JOIN document AS d ON d.key = c.document
WHERE c.key = CAST(wanted.value AS BIGINT) AND (?2 = 'null' OR EXISTS (
  SELECT 1 FROM membership WHERE document = d.key AND shelf IN (SELECT value FROM json_each(?2))
));

-- chunks_of
SELECT
  d.id, c.ordinal, c."start", c."end", c.text, c.kind, c.header, c.section_path, c.page,
  c.page_label, c.tokens, c.parents, c.key
FROM document AS d JOIN chunk AS c ON c.document = d.key
WHERE d.id = ?1 AND (?2 = 'null' OR EXISTS (
  SELECT 1 FROM membership WHERE document = d.key AND shelf IN (SELECT value FROM json_each(?2))
))
ORDER BY c.ordinal;

-- chunk_keys
SELECT c.key FROM document AS d JOIN chunk AS c ON c.document = d.key
WHERE d.id = ? ORDER BY c.ordinal;

-- embedding
SELECT e.dimensions, e.vectors
FROM document AS d JOIN embedding AS e ON e.document = d.key
WHERE d.id = ? AND e.fingerprint = ?;

-- embeddings_of
SELECT fingerprint, dimensions, vectors FROM embedding WHERE document = ?;

-- fingerprints
SELECT fingerprint, count(*) FROM embedding GROUP BY fingerprint ORDER BY fingerprint;

-- fingerprints_of
SELECT e.fingerprint FROM document AS d JOIN embedding AS e ON e.document = d.key
WHERE d.id = ? ORDER BY e.fingerprint;

-- put_file
INSERT INTO file (
  location, source, size, mtime_ns, sha256, status, code, sentence, document_id, format, ctime_ns,
  attempts, volume
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (location) DO UPDATE SET
  source = excluded.source, size = excluded.size, mtime_ns = excluded.mtime_ns,
  sha256 = excluded.sha256, status = excluded.status, code = excluded.code,
  sentence = excluded.sentence, document_id = excluded.document_id, format = excluded.format,
  ctime_ns = excluded.ctime_ns, attempts = excluded.attempts, volume = excluded.volume;

-- set_volume
UPDATE file SET volume = ?1 WHERE location IN (SELECT value FROM json_each(?2));

-- drop_file
DELETE FROM file WHERE location = ?;

-- file
SELECT * FROM file WHERE location = ?;

-- files
SELECT * FROM file ORDER BY source, location;

-- files_under
SELECT * FROM file
WHERE location = ?1 OR (location >= ?2 AND location < ?3)
ORDER BY source, location;

-- files_sent_as
-- Files that came from no folder, under a name: their sources are upload/MARK/NAME.
SELECT * FROM file
WHERE location >= 'text:' AND location < 'text;'
  AND substr(source, 1, 7) = 'upload/' AND substr(source, 17) = ?
ORDER BY location;

-- listed_files
-- Documents, and files that gave none though somebody waits for one: those are on no shelf. What was
-- sent is listed without the mark in its source, which is upload/MARK/NAME.
WITH own AS (
  SELECT d.key, d.id, coalesce(d.title, '') AS title, f.source, d.sha256,
    CASE WHEN f.location >= 'text:' AND f.location < 'text;' AND f.source LIKE 'upload/________/%'
      THEN 'upload/' || substr(f.source, 17) ELSE f.source END AS place,
    coalesce(d.format, f.format) AS format, coalesce(d.status, f.status) AS status, f.sentence,
    f.size, coalesce(d.modified, f.mtime_ns / 1000000000) AS modified, d.page_kind
  FROM file AS f LEFT JOIN document AS d ON d.location = f.location
  WHERE (d.key IS NOT NULL OR f.status IN ('rejected', 'failed', 'quarantined'))
  AND (?1 = 'null' OR d.key IN (
    SELECT document FROM membership WHERE shelf IN (SELECT value FROM json_each(?1))
  ))
  AND (?2 = 'null' OR d.id IN (SELECT value FROM json_each(?2)))
  AND (?3 = '' OR instr(
    folded(coalesce(d.title, ''), f.source, coalesce(d.author, '')), ?3
  ) > 0)
),
shown AS (
  SELECT *, count(*) OVER () AS total FROM own
  WHERE (?4 = '' OR (place >= ?4 || '/' AND place < ?4 || '0'))
  AND (?5 = '' OR format = ?5) AND (?6 = '' OR status = ?6)
  ORDER BY CASE WHEN ?7 = 'date' THEN -modified ELSE 0 END, natural(place), source LIMIT ?8 OFFSET ?9
)
SELECT coalesce(id, ''), title, source, place, format, status, sentence, size, modified,
  coalesce(page_kind, ''), (SELECT count(*) FROM page WHERE document = key),
  (SELECT json_group_array(shelf) FROM membership WHERE document = key),
  coalesce((
    SELECT d.source FROM document AS d
    WHERE d.sha256 = shown.sha256 AND d.key < shown.key AND (?1 = 'null' OR d.key IN (
      SELECT document FROM membership WHERE shelf IN (SELECT value FROM json_each(?1))
    )) ORDER BY d.key LIMIT 1
  ), ''), total
FROM shown;

-- folders
-- Of what listed_files lists: how many stand in each folder, whose name ends with a slash.
SELECT rtrim(place, replace(place, '/', '')) AS folder, count(*) FROM (
  SELECT CASE WHEN f.location >= 'text:' AND f.location < 'text;'
      AND f.source LIKE 'upload/________/%'
    THEN 'upload/' || substr(f.source, 17) ELSE f.source END AS place
  FROM file AS f LEFT JOIN document AS d ON d.location = f.location
  WHERE (d.key IS NOT NULL OR f.status IN ('rejected', 'failed', 'quarantined'))
  AND (?1 = 'null' OR d.key IN (
    SELECT document FROM membership WHERE shelf IN (SELECT value FROM json_each(?1))
  ))
) GROUP BY folder ORDER BY folder;

-- roots
SELECT label, location FROM root ORDER BY label;

-- put_root
INSERT INTO root (location, label) VALUES (?, ?);

-- integrity
PRAGMA integrity_check(1);

-- quick_integrity
PRAGMA quick_check(1);

-- foreign_keys
PRAGMA foreign_key_check;

-- sequence_faults
SELECT 'document ' || d.id || ' has sequence ' || d.sequence || ' beyond the counter'
FROM document AS d, counter WHERE d.sequence > counter.sequence
UNION ALL
SELECT 'removal of ' || r.document_id || ' has sequence ' || r.sequence || ' beyond the counter'
FROM removal AS r, counter WHERE r.sequence > counter.sequence
UNION ALL
SELECT 'sequence ' || d.sequence || ' belongs to a document and to a removal'
FROM document AS d JOIN removal AS r ON r.sequence = d.sequence
UNION ALL
SELECT 'document ' || d.id || ' is also recorded as removed'
FROM document AS d JOIN removal AS r ON r.document_id = d.id;

-- put_memory
INSERT INTO memory (
  persona, asked, expires, question, answer, found, method, sources, sequence, given
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING key;

-- put_memory_terms
INSERT INTO memory_terms (rowid, question, answer) VALUES (?, ?, ?);

-- memories
SELECT key, persona, asked, expires, question, answer, found, method, sources, sequence FROM memory
WHERE persona IN (SELECT value FROM json_each(?)) AND (expires = 0 OR expires > ?)
ORDER BY key DESC LIMIT ?;

-- memory
SELECT key, persona, asked, expires, question, answer, found, method, sources, sequence, given
FROM memory WHERE key = ? AND persona IN (SELECT value FROM json_each(?))
  AND (expires = 0 OR expires > ?);

-- memory_personas
SELECT DISTINCT persona FROM memory ORDER BY persona;

-- search_memories
SELECT m.key, m.persona, m.asked, m.expires, m.question, m.answer, m.found, m.method, m.sources,
  m.sequence, memory_terms.question, memory_terms.answer
FROM memory_terms JOIN memory AS m ON m.key = memory_terms.rowid
WHERE memory_terms MATCH ? AND m.persona IN (SELECT value FROM json_each(?))
  AND (m.expires = 0 OR m.expires > ?)
ORDER BY m.key DESC;

-- memory_lengths
SELECT count(*), coalesce(sum(
  length(t.question) - length(replace(t.question, ' ', ''))
  + length(t.answer) - length(replace(t.answer, ' ', '')) + 2
), 0)
FROM memory AS m JOIN memory_terms AS t ON t.rowid = m.key
WHERE m.persona IN (SELECT value FROM json_each(?)) AND (m.expires = 0 OR m.expires > ?);

-- memory_keys
SELECT key FROM memory
WHERE persona IN (SELECT value FROM json_each(?)) AND asked < ? ORDER BY key;

-- memory_owner
SELECT persona FROM memory WHERE key = ?;

-- expired_memories
SELECT key FROM memory WHERE expires <> 0 AND expires <= ?;

-- memories_of_documents
SELECT key FROM memory WHERE EXISTS (
  SELECT 1 FROM json_each(sources) WHERE value IN (SELECT value FROM json_each(?))
) ORDER BY key;

-- drop_memory
DELETE FROM memory WHERE key = ?;

-- drop_memory_terms
DELETE FROM memory_terms WHERE rowid = ?;

-- cached_answer
SELECT answer FROM cached_answer WHERE key = ?;

-- put_cached_answer
INSERT INTO cached_answer (key, sequence, answer) VALUES (?, ?, ?)
ON CONFLICT (key) DO UPDATE SET sequence = excluded.sequence, answer = excluded.answer;

-- drop_cached_answers
DELETE FROM cached_answer WHERE sequence <> ?;

-- sources
SELECT name, kind, location, shelf, include, exclude, maximum_bytes, synced, state, problem,
  trust
FROM source ORDER BY name;

-- trust_of_sources
SELECT name, kind, location, trust FROM source;

-- save_source
INSERT INTO source (
  name, kind, location, shelf, include, exclude, maximum_bytes, synced, state, problem,
  trust
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (name) DO UPDATE SET
  kind = excluded.kind, location = excluded.location, shelf = excluded.shelf,
  include = excluded.include, exclude = excluded.exclude,
  maximum_bytes = excluded.maximum_bytes, synced = excluded.synced, state = excluded.state,
  problem = excluded.problem, trust = excluded.trust;

-- drop_source
DELETE FROM source WHERE name = ?;

-- document_ids
SELECT id FROM document AS d
WHERE ?1 = 'null' OR d.key IN (
  SELECT document FROM membership WHERE shelf IN (SELECT value FROM json_each(?1))
);

-- file_names
SELECT 1 FROM file WHERE location = ?1 AND document_id = ?2;

-- set_location
UPDATE document SET location = ?2 WHERE location = ?1;

-- move_document
UPDATE document SET location = ?2, source = ?3, title = ?4, modified = ?5, sequence = ?6
WHERE id = ?1;

-- file_places
SELECT location FROM file
WHERE location >= '/' AND location < '0' AND NOT EXISTS (
  SELECT 1 FROM json_each(?1)
  WHERE location >= value || '/' AND location < value || '0'
)
ORDER BY location;

-- Export and import.

-- blob_hashes
SELECT DISTINCT sha256 FROM document
WHERE NOT EXISTS (SELECT 1 FROM content WHERE content.sha256 = document.sha256)
ORDER BY sha256;

-- has_table
SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?;

-- count_document
SELECT count(*) FROM document;

-- count_chunk
SELECT count(*) FROM chunk;

-- count_memory
SELECT count(*) FROM memory;

-- drop_every_cached_answer
DELETE FROM cached_answer;

-- drop_every_unreferenced_content
DELETE FROM content WHERE NOT EXISTS (SELECT 1 FROM document AS d WHERE d.sha256 = content.sha256);

-- drop_every_open_job
DELETE FROM job WHERE state IN ('pending', 'running');

-- drop_every_memory
DELETE FROM memory;

-- drop_every_memory_term
DELETE FROM memory_terms;

-- schema
SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema ORDER BY type, name;

-- relocate_documents
UPDATE document SET location = ?2 || substr(location, length(?1) + 1)
WHERE (location = ?1 OR substr(location, 1, length(?1) + 1) = ?1 || '/') AND NOT EXISTS (
  SELECT 1 FROM document AS known WHERE known.location = ?2 || substr(document.location, length(?1) + 1)
);

-- relocate_files
UPDATE file SET location = ?2 || substr(location, length(?1) + 1)
WHERE (location = ?1 OR substr(location, 1, length(?1) + 1) = ?1 || '/') AND NOT EXISTS (
  SELECT 1 FROM file AS known WHERE known.location = ?2 || substr(file.location, length(?1) + 1)
);

-- relocate_sources
UPDATE source SET location = ?2 || substr(location, length(?1) + 1)
WHERE location = ?1 OR substr(location, 1, length(?1) + 1) = ?1 || '/';

-- relocate_roots
UPDATE root SET location = ?2 || substr(location, length(?1) + 1)
WHERE (location = ?1 OR substr(location, 1, length(?1) + 1) = ?1 || '/') AND NOT EXISTS (
  SELECT 1 FROM root AS known WHERE known.location = ?2 || substr(root.location, length(?1) + 1)
);

-- free_job
SELECT * FROM job
WHERE (state = 'pending' OR state = 'running' AND lease_until <= ?) AND kind = ? AND arguments = ?
ORDER BY key LIMIT 1;

-- put_job
INSERT INTO job (kind, arguments, lane, state, created) VALUES (?, ?, ?, 'pending', ?)
RETURNING *;

-- claimable_job
WITH busy AS (SELECT lane FROM job WHERE state = 'running' AND lease_until > ?1)
SELECT j.key FROM job AS j
WHERE j.state IN ('pending', 'running') AND j.lane NOT IN (SELECT lane FROM busy)
  AND (j.lease_until <= ?1 OR j.state = 'pending' AND j.key = ?2)
  AND (?2 = 0 OR j.key = ?2) AND (?3 = '' OR j.kind = ?3)
  AND NOT EXISTS (SELECT 1 FROM json_each(?4) WHERE CAST(value AS integer) = j.key)
ORDER BY CASE WHEN j.kind = 'upload'
  THEN (SELECT max(claim) FROM job WHERE lane BETWEEN 'upload' AND 'upload!')
  ELSE (SELECT max(claim) FROM job WHERE lane = j.lane) END, j.key LIMIT 1;

-- claim_job
UPDATE job SET
  state = 'running', attempts = attempts + 1, worker = ?, lease_until = ?,
  started = CASE WHEN started = 0 THEN ? ELSE started END, claim = (SELECT max(claim) FROM job) + 1,
  error = '', hint = ''
WHERE key = ? RETURNING *;

-- report_job
UPDATE job SET progress = ?, attempts = ?, lease_until = ?
WHERE key = ? AND worker = ? AND state = 'running' RETURNING cancelling;

-- job_stored
UPDATE job SET result = ?
WHERE key = ? AND worker = ? AND state = 'running' AND cancelling = 0 RETURNING key;

-- finish_job
UPDATE job SET
  state = ?1, finished = ?2, lease_until = ?3, progress = ?4, attempts = ?5,
  result = iif(?1 = 'pending' OR ?6 = '{}', result, ?6), error = ?7, hint = ?8,
  arguments = iif(kind = 'upload' AND ?1 IN ('done', 'partial'),
    json_remove(arguments, '$.file', '$.name'), arguments),
  lane = iif(kind = 'upload' AND ?1 IN ('done', 'partial'), kind, lane)
WHERE key = ?9 AND worker = ?10 AND state = 'running' RETURNING key;

-- cancel_pending_job
UPDATE job SET state = 'cancelled', finished = ? WHERE key = ? AND state = 'pending';

-- cancel_running_job
UPDATE job SET cancelling = 1 WHERE key = ? AND state = 'running';

-- expire_job
UPDATE job SET lease_until = 0 WHERE key = ? AND worker = ? AND state = 'running';

-- job
SELECT * FROM job WHERE key = ?;

-- jobs
SELECT * FROM job
WHERE state IN (SELECT value FROM json_each(?1)) AND (?2 = '' OR lane = ?2)
ORDER BY key DESC LIMIT ?3;

-- drop_old_jobs
DELETE FROM job WHERE state NOT IN ('pending', 'running') AND key <= (
  SELECT key FROM job WHERE state NOT IN ('pending', 'running')
  ORDER BY key DESC LIMIT 1 OFFSET ?
);

-- uploads_of
-- Jobs of received files with one of some SHA-256 for one of some shelves; "" is the usual one.
SELECT key, arguments ->> 'file' FROM job
WHERE kind = 'upload'
  AND json_array(substr(arguments ->> 'file', 1, 64), arguments ->> 'shelf')
    IN (SELECT json(value) FROM json_each(?));

-- forget_uploads
UPDATE job SET
  arguments = json_set(arguments, '$.file', '(removed)', '$.name', '(removed)'),
  lane = 'upload',
  progress = '{}',
  finished = iif(state IN ('pending', 'running'), unixepoch(), finished),
  state = iif(state IN ('pending', 'running'), 'cancelled', state),
  lease_until = 0
WHERE kind = 'upload'
  AND json_array(substr(arguments ->> 'file', 1, 64), arguments ->> 'shelf')
    IN (SELECT json(value) FROM json_each(?));

-- ended_jobs
SELECT key, arguments, lane, progress, result, error, hint FROM job
WHERE state NOT IN ('pending', 'running') ORDER BY key;

-- rewrite_job
UPDATE job SET arguments = ?2, lane = ?3, progress = ?4, result = ?5, error = ?6, hint = ?7
WHERE key = ?1;

--- Questions as they are counted. The first binding of a read is the beginning of the period.

-- put_question
INSERT INTO question (
  asked, interface, persona, council, outcome, text, confidence, milliseconds, model, cached,
  input_tokens, output_tokens
) VALUES (?, ?, ?, ?, ?, ?, 0, 0, '', 0, 0, 0) RETURNING key;

-- put_question_document
INSERT INTO question_document (question, document, place, cited) VALUES (?, ?, ?, ?);

-- existing_documents
SELECT id FROM document WHERE id IN (SELECT value FROM json_each(?));

-- drop_old_questions
DELETE FROM question WHERE asked < ?;

-- drop_every_question
DELETE FROM question;

-- drop_every_question_document
DELETE FROM question_document;

-- forget_texts_of_memories
UPDATE question SET text = NULL WHERE text IN (
  SELECT question FROM memory WHERE key IN (SELECT CAST(value AS BIGINT) FROM json_each(?))
);

-- forget_texts_of_document
UPDATE question SET text = NULL
WHERE text IS NOT NULL AND key IN (SELECT question FROM question_document WHERE document = ?);

-- drop_question_documents
DELETE FROM question_document WHERE document = ?;

-- first_question
SELECT min(asked) FROM question;

-- count_questions
SELECT count(*) FROM question WHERE asked >= ?1;

-- questions_by_interface
SELECT interface, count(*) FROM question WHERE asked >= ?1 GROUP BY interface ORDER BY interface;

-- questions_by_outcome
SELECT outcome, count(*) FROM question WHERE asked >= ?1 GROUP BY outcome;

-- questions_by_day
SELECT asked / 86400, outcome, count(*) FROM question WHERE asked >= ?1 GROUP BY 1, 2 ORDER BY 1;

-- unanswered_questions
SELECT coalesce(text, ''), persona, council, count(*), count(*) FILTER (WHERE outcome = 'not-found'), max(asked),
  coalesce(nearest, '')
FROM (
  SELECT q.*, (
    SELECT document FROM question_document WHERE question = q.key ORDER BY place LIMIT 1
  ) AS nearest
  FROM question AS q WHERE asked >= ?1 AND outcome IN ('passages', 'not-found')
)
GROUP BY 1, 2, 3, 7 ORDER BY count(*) DESC, max(asked) DESC, 1, 2, 3, 7 LIMIT ?2;

-- cited_documents
SELECT document, count(*) FROM question_document AS d JOIN question AS q ON q.key = d.question
WHERE asked >= ?1 AND cited <> 0 GROUP BY document ORDER BY count(*) DESC, document LIMIT ?2;

-- count_cited_documents
SELECT count(DISTINCT document) FROM question_document AS d JOIN question AS q ON q.key = d.question
WHERE asked >= ?1 AND cited <> 0;

-- never_cited_documents
SELECT id FROM document WHERE id NOT IN (
  SELECT document FROM question_document AS d JOIN question AS q ON q.key = d.question
  WHERE asked >= ?1 AND cited <> 0
)
ORDER BY modified, id LIMIT ?2;

-- document_ages
SELECT CASE WHEN modified <= 0 THEN -1 WHEN modified >= ?1 THEN 0 ELSE (?1 - modified) / 86400 END
  AS age, count(*)
FROM document GROUP BY age ORDER BY age;

-- The doctor: rows as they are.

-- put_checksum
INSERT INTO checksum (document, shelves, rows_sha256) VALUES (?, ?, ?)
ON CONFLICT (document) DO UPDATE SET
  shelves = excluded.shelves, rows_sha256 = excluded.rows_sha256;

-- checksum
SELECT d.key, c.rows_sha256, c.shelves,
  (SELECT json_group_array(shelf ORDER BY shelf) FROM membership WHERE document = d.key)
FROM document AS d LEFT JOIN checksum AS c ON c.document = d.key
WHERE d.id = ?;

-- document_facts
SELECT title, format, method, sha256, text_sha256, page_kind, language, notices, metadata, characters,
  chunks
FROM document WHERE key = ?;

-- shelves_of
SELECT json_group_array(shelf ORDER BY shelf) FROM membership WHERE document = ?;

-- section_rows
SELECT ordinal, level, path, "start", "end" FROM section WHERE document = ? ORDER BY ordinal;

-- page_rows
SELECT ordinal, number, label, "start", "end" FROM page WHERE document = ? ORDER BY ordinal;

-- chunk_rows
SELECT ordinal, "start", "end", text, kind, header, section_path, page, page_label, tokens, parents
FROM chunk WHERE document = ? ORDER BY ordinal;

-- every_document_id
SELECT id FROM document ORDER BY id;

-- all_chunk_keys
SELECT d.id, c.key FROM document AS d JOIN chunk AS c ON c.document = d.key
ORDER BY d.id, c.ordinal;

-- needed_hashes
SELECT sha256, EXISTS (SELECT 1 FROM content AS c WHERE c.sha256 = needed.sha256)
FROM (SELECT DISTINCT sha256 FROM document) AS needed ORDER BY sha256;

-- counter_faults
SELECT 'the count of changes is gone' WHERE NOT EXISTS (SELECT 1 FROM counter)
UNION ALL
SELECT 'vectors have sequence ' || max(e.sequence) || ' beyond the counter'
FROM embedding AS e, counter GROUP BY counter.id HAVING max(e.sequence) > counter.embedding;

-- file_faults
SELECT 'the record of file ' || f.location || ' is of other bytes than document ' || d.id, d.id
FROM file AS f JOIN document AS d ON d.location = f.location AND d.id = f.document_id
WHERE (f.sha256 <> '' AND f.sha256 <> d.sha256) OR f.source <> d.source
UNION ALL
SELECT 'the record of file ' || f.location || ' has no known status', d.id
FROM file AS f LEFT JOIN document AS d ON d.location = f.location
WHERE f.status NOT IN (SELECT value FROM json_each(?1));

-- files_without_document
SELECT 'file ' || f.location || ' names document ' || f.document_id || ', which is not there',
  f.location
FROM file AS f
WHERE f.document_id <> '' AND NOT EXISTS (
  SELECT 1 FROM document AS d WHERE d.id = f.document_id AND d.location = f.location
);

-- documents_without_file
SELECT 'document ' || d.id || ' has no file record', d.id FROM document AS d
WHERE NOT EXISTS (
  SELECT 1 FROM file AS f WHERE f.location = d.location AND f.document_id = d.id
);

-- incomplete_documents
SELECT 'document ' || d.id || ' has no text', d.id FROM document AS d
WHERE NOT EXISTS (SELECT 1 FROM body AS b WHERE b.document = d.key)
UNION ALL
SELECT 'document ' || d.id || ' says ' || d.chunks || ' chunks and has ' || n.number, d.id
FROM document AS d
JOIN (
  SELECT d.key, (SELECT count(*) FROM chunk AS c WHERE c.document = d.key) AS number
  FROM document AS d
) AS n ON n.key = d.key
WHERE n.number <> d.chunks;

-- shelf_faults
SELECT 'document ' || d.id || ' is not on the shelves it was put on', d.id
FROM document AS d LEFT JOIN checksum AS c ON c.document = d.key
WHERE c.shelves <> (
  SELECT json_group_array(shelf ORDER BY shelf) FROM membership WHERE document = d.key
) OR NOT EXISTS (SELECT 1 FROM membership AS m WHERE m.document = d.key);

-- content_orphans
SELECT 'bytes ' || sha256 || ' are of no document', sha256 FROM content
WHERE NOT EXISTS (SELECT 1 FROM document AS d WHERE d.sha256 = content.sha256);

-- unreadable_records
SELECT 'memory m' || key || ' cannot be read' FROM memory
WHERE NOT json_valid(sources) OR NOT json_valid(given)
UNION ALL
SELECT 'the settings of the encoder that is ' || role || ' cannot be read' FROM encoder
WHERE NOT json_valid(settings);

-- --- cutting documents anew ---

-- cuttings
SELECT cut_by, format, replace(source, rtrim(source, replace(source, '.', '')), ''), count(*)
FROM document AS d
WHERE ?1 = 'null' OR d.key IN (
  SELECT document FROM membership WHERE shelf IN (SELECT value FROM json_each(?1))
)
GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;

-- put_cutting
UPDATE document SET chunks = ?, cut_by = ?, sequence = ? WHERE key = ?;

-- --- names ---

-- name_decisions
SELECT name, entity, decided, decided_by FROM name_decision ORDER BY name;

-- put_name_decision
INSERT INTO name_decision (name, entity, decided, decided_by) VALUES (?, ?, ?, ?)
ON CONFLICT (name) DO UPDATE SET
  entity = excluded.entity, decided = excluded.decided, decided_by = excluded.decided_by;

-- drop_name_decision
DELETE FROM name_decision WHERE name = ?;

-- --- settings ---

-- stored_settings
SELECT name, value, changed, changed_by FROM setting_change
WHERE key IN (SELECT max(key) FROM setting_change GROUP BY name) AND value IS NOT NULL
ORDER BY key DESC;

-- setting_sequence
SELECT coalesce(max(key), 0) FROM setting_change;

-- put_setting_change
INSERT INTO setting_change (name, value, changed, changed_by) VALUES (?, ?, ?, ?);
