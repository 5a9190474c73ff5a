-- A memory holds the answer as it was given, with its citations. What stood there of citations alone
-- was read by no version that is left.
ALTER TABLE memory DROP COLUMN citations;
ALTER TABLE memory ADD COLUMN given TEXT NOT NULL DEFAULT 'null';  -- JSON: the answer
