-- Answers of a model that need not be written again are a cache, and are called so. Those of before
-- go: their JSON has other names.
DROP TABLE kept_answer;
CREATE TABLE cached_answer (
  key TEXT PRIMARY KEY,    -- SHA-256
  sequence INTEGER NOT NULL,
  answer TEXT NOT NULL     -- JSON
) STRICT, WITHOUT ROWID;
CREATE INDEX cached_answer_sequence ON cached_answer (sequence);
