-- Long work as jobs, and how often a file ended its reader or its process.

CREATE TABLE job (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL,
  arguments TEXT NOT NULL,   -- JSON with keys in order: equal jobs have equal ones
  lane TEXT NOT NULL,
  state TEXT NOT NULL CHECK (
    state IN ('pending', 'running', 'done', 'partial', 'failed', 'cancelled')
  ),
  attempts INTEGER NOT NULL DEFAULT 0,
  created INTEGER NOT NULL,  -- seconds
  started INTEGER NOT NULL DEFAULT 0,
  finished INTEGER NOT NULL DEFAULT 0,
  claim INTEGER NOT NULL DEFAULT 0,  -- claims are numbered: which lane was served last
  lease_until REAL NOT NULL DEFAULT 0,  -- seconds
  worker TEXT NOT NULL DEFAULT '',
  cancelling INTEGER NOT NULL DEFAULT 0,
  progress TEXT NOT NULL DEFAULT '{}',  -- JSON
  result TEXT NOT NULL DEFAULT '{}',    -- JSON
  error TEXT NOT NULL DEFAULT '',
  hint TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX job_state ON job (state, lane);
CREATE INDEX job_lane ON job (lane, claim);

ALTER TABLE file ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;
