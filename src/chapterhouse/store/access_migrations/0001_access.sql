-- Who may use a home over the network. Times are seconds; secrets are hashed.

CREATE TABLE api_key (
  id TEXT PRIMARY KEY,          -- with which the secret begins
  secret_hash BLOB NOT NULL,    -- SHA-256 of the whole secret
  label TEXT NOT NULL,
  level TEXT NOT NULL,
  workspaces TEXT,              -- JSON list; null: all
  shelves TEXT,                 -- JSON list; null: every document
  personas TEXT,                -- JSON list; null: all
  created INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  expires INTEGER NOT NULL,     -- 0: never
  revoked INTEGER NOT NULL DEFAULT 0,
  last_used INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE user (
  name TEXT PRIMARY KEY COLLATE NOCASE,  -- so that none can be mistaken for another
  level TEXT NOT NULL,
  workspaces TEXT,              -- JSON list; null: all
  created INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  disabled INTEGER NOT NULL DEFAULT 0,
  password_hash TEXT NOT NULL   -- Argon2, with its parameters and salt
) STRICT;

CREATE TABLE session (
  secret_hash BLOB PRIMARY KEY, -- SHA-256
  user TEXT NOT NULL COLLATE NOCASE REFERENCES user ON DELETE CASCADE,
  created INTEGER NOT NULL,
  last_used INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX session_by_user ON session (user);

-- Passwords that were tried without success, by name and by address.
CREATE TABLE attempt (
  subject BLOB PRIMARY KEY,     -- SHA-256: people type passwords where a name belongs
  failures INTEGER NOT NULL,
  last INTEGER NOT NULL,        -- when the last one was
  previous INTEGER NOT NULL     -- when the one before it was
) STRICT, WITHOUT ROWID;

CREATE TABLE audit (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  action TEXT NOT NULL,
  target TEXT NOT NULL,
  outcome TEXT NOT NULL,
  workspace TEXT NOT NULL,
  address TEXT NOT NULL
) STRICT;
CREATE INDEX audit_by_time ON audit (at);
