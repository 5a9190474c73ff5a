-- By what a document was cut into chunks: strategy, sizes, tokenizer and version of the chunker. Empty:
-- before this was recorded.
ALTER TABLE document ADD COLUMN cut_by TEXT NOT NULL DEFAULT '';
