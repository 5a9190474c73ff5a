-- What is removed cannot come back: the bytes that were retained for it go.
DELETE FROM content
WHERE sha256 IN (SELECT sha256 FROM removed)
  AND NOT EXISTS (SELECT 1 FROM document WHERE document.sha256 = content.sha256);
DROP TABLE removed;
DELETE FROM setting_change WHERE name = 'removal.grace_days';
