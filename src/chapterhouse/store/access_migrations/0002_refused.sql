-- What was refused has a limit of its own, so that it pushes out nothing that was done.

CREATE INDEX audit_refused ON audit (key) WHERE outcome = 'refused';
CREATE INDEX audit_not_refused ON audit (key) WHERE outcome <> 'refused';

-- Entries of a server had no time: they were made after the entry before them.
UPDATE audit SET at = known.at
FROM (
  SELECT key, coalesce(
    nullif(max(at) OVER (ORDER BY key), 0),
    (SELECT min(at) FROM audit WHERE at > 0),
    unixepoch()
  ) AS at FROM audit
) AS known
WHERE known.key = audit.key AND audit.at = 0;

-- Failures are counted by name and address together.
DELETE FROM attempt;
ALTER TABLE attempt DROP COLUMN previous;
