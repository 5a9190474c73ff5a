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
  conflicts INTEGER NOT NULL,     -- sources that disagree on it
  milliseconds INTEGER NOT NULL,
  model TEXT NOT NULL,            -- empty: none wrote
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cost REAL,                      -- US dollars; null: not known
  text TEXT                       -- null unless the settings allow it
) STRICT;
CREATE INDEX question_by_time ON question (asked);

-- The documents that an answer cited, and those nearest to a question without one.
CREATE TABLE question_document (
  question INTEGER NOT NULL REFERENCES question ON DELETE CASCADE,
  document TEXT NOT NULL,         -- its id
  cited INTEGER NOT NULL,         -- 1: cited, 0: nearest
  PRIMARY KEY (question, document)
) STRICT, WITHOUT ROWID;
CREATE INDEX question_document_by_document ON question_document (document);

-- How far what comes from a source is trusted: own, shared, external or web.
ALTER TABLE source ADD COLUMN trust TEXT NOT NULL DEFAULT 'own';
UPDATE source SET trust = CASE kind WHEN 'links' THEN 'web' WHEN 'cloud' THEN 'shared' ELSE 'own' END;
