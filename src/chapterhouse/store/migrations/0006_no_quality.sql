-- The measures of a chunk's words are computed when asked for.

ALTER TABLE chunk DROP COLUMN entropy;
ALTER TABLE chunk DROP COLUMN coherence;
ALTER TABLE chunk DROP COLUMN density;
ALTER TABLE chunk DROP COLUMN importance;
