-- What every question, and every question that names a file, looks up: without a scan of all rows.

CREATE INDEX document_census ON document (language, chunks);

-- The last name of the source; SQLite has no function for it.
CREATE INDEX document_file_name ON document (
  lower(substr(source, length(rtrim(source, replace(source, '/', ''))) + 1))
);

-- Which embedders the vectors are of: looked up after every change.
CREATE INDEX embedding_fingerprint ON embedding (fingerprint);
