-- People can be limited as keys can; who was there before is not.

ALTER TABLE user ADD COLUMN shelves TEXT;   -- JSON list; null: every document
ALTER TABLE user ADD COLUMN personas TEXT;  -- JSON list; null: all
