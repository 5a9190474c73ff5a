-- What can be said of a chunk before anyone asks, and the larger stretches it lies in.

ALTER TABLE chunk ADD COLUMN entropy REAL;     -- bits; NULL in all four: not measured yet
ALTER TABLE chunk ADD COLUMN coherence REAL;   -- 0 to 1
ALTER TABLE chunk ADD COLUMN density REAL;     -- 0 to 1
ALTER TABLE chunk ADD COLUMN importance REAL;  -- 0 to 1
ALTER TABLE chunk ADD COLUMN parents TEXT NOT NULL DEFAULT '[]';  -- JSON: [[start, end], ...]
