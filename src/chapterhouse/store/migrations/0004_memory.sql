-- What was asked and answered, apart from the documents, and answers that need not be written again.

CREATE TABLE memory (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  persona TEXT NOT NULL,   -- slug; empty for the library itself
  asked INTEGER NOT NULL,  -- seconds
  expires INTEGER NOT NULL,  -- seconds; 0: never
  question TEXT NOT NULL,
  answer TEXT NOT NULL,
  found INTEGER NOT NULL,
  method TEXT NOT NULL,
  sources TEXT NOT NULL,   -- JSON: ids of documents
  sequence INTEGER NOT NULL  -- of the library, when it was answered
) STRICT;
CREATE INDEX memory_persona ON memory (persona, key);
CREATE INDEX memory_expires ON memory (expires);

-- Index terms of question and answer, as the analyser makes them.
CREATE VIRTUAL TABLE memory_terms USING fts5 (
  question, answer, tokenize = "unicode61 remove_diacritics 0"
);
-- What is forgotten leaves no trace in the index.
INSERT INTO memory_terms (memory_terms, rank) VALUES ('secure-delete', 1);

-- Answers of a model by everything that they depend on. Those of an earlier sequence can never be
-- asked for again and are dropped.
CREATE TABLE kept_answer (
  key TEXT PRIMARY KEY,    -- SHA-256
  sequence INTEGER NOT NULL,
  answer TEXT NOT NULL     -- JSON
) STRICT, WITHOUT ROWID;
CREATE INDEX kept_answer_sequence ON kept_answer (sequence);
