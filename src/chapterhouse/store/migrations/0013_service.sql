-- What was changed of the settings in the database: the latest row of a name holds.
CREATE TABLE setting_change (
  key INTEGER PRIMARY KEY,
  name TEXT NOT NULL,    -- SECTION.SETTING
  value TEXT,            -- JSON; null: as without it
  changed INTEGER NOT NULL,  -- seconds
  changed_by TEXT NOT NULL
) STRICT;
CREATE INDEX setting_change_by_name ON setting_change (name, key);

-- Each question and meeting, counted.
CREATE TABLE question (
  key INTEGER PRIMARY KEY,
  asked INTEGER NOT NULL,         -- seconds
  interface TEXT NOT NULL,        -- cli, python, api, openai, mcp
  persona TEXT NOT NULL,          -- slug; empty: the library
  council TEXT NOT NULL,          -- slug; empty: no meeting
  outcome TEXT NOT NULL,
  confidence REAL NOT NULL,       -- 0 to 1
  conflicts INTEGER NOT NULL,     -- points on which sources disagree
  milliseconds INTEGER NOT NULL,
  model TEXT NOT NULL,            -- empty: none wrote
  cached INTEGER NOT NULL,        -- 1: written earlier
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cost REAL,                      -- US dollars; null: not known
  text TEXT                       -- null unless the settings allow it
) STRICT;
CREATE INDEX question_by_time ON question (asked);

-- The documents that an answer cites, those nearest to its question, and those that disagree on it.
-- None that is not in the library: what is removed goes here, too.
CREATE TABLE question_document (
  question INTEGER NOT NULL REFERENCES question ON DELETE CASCADE,
  document TEXT NOT NULL,         -- its id
  place INTEGER NOT NULL,         -- from 1, the nearest first
  cited INTEGER NOT NULL,         -- 1: the answer cites it
  disagrees INTEGER NOT NULL,     -- 1: with another one
  PRIMARY KEY (question, document)
) STRICT, WITHOUT ROWID;
CREATE INDEX question_document_by_document ON question_document (document);

-- How far what comes from a source is trusted: own, shared, external or web.
ALTER TABLE source ADD COLUMN trust TEXT NOT NULL DEFAULT 'own';
UPDATE source SET trust = CASE kind WHEN 'links' THEN 'web' WHEN 'cloud' THEN 'shared' ELSE 'own' END;
