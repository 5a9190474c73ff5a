-- Who wrote a document, as its file states it; it was among the rest that files state.
ALTER TABLE document ADD COLUMN author TEXT NOT NULL DEFAULT '';
UPDATE document SET author = coalesce(json_extract(metadata, '$.author'), '')
WHERE json_valid(metadata);
