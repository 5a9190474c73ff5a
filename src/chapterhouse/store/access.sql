-- add_api_key
INSERT INTO api_key (
  id, secret_hash, label, level, workspaces, shelves, personas, created, created_by, expires
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT DO NOTHING RETURNING id;

-- api_keys
SELECT id, label, level, workspaces, shelves, personas, created, created_by, expires, revoked,
  last_used
FROM api_key ORDER BY created DESC, id;

-- api_key
SELECT id, label, level, workspaces, shelves, personas, created, created_by, expires, revoked,
  last_used, secret_hash
FROM api_key WHERE id = ?;

-- revoke_api_key
UPDATE api_key SET revoked = ? WHERE id = ? AND revoked = 0 RETURNING id;

-- touch_api_key
UPDATE api_key SET last_used = ?1 WHERE id = ?2 AND last_used < ?1;

-- add_user
INSERT INTO "user" (
  name, level, workspaces, shelves, personas, created, created_by, password_hash
) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT DO NOTHING RETURNING name;

-- users
SELECT name, level, workspaces, shelves, personas, created, created_by, disabled
FROM "user" ORDER BY name;

-- user
SELECT name, level, workspaces, shelves, personas, created, created_by, disabled, password_hash
FROM "user" WHERE lower(name) = lower(?);

-- set_user_password
UPDATE "user" SET password_hash = ? WHERE lower(name) = lower(?) RETURNING name;

-- replace_user_password
UPDATE "user" SET password_hash = ? WHERE lower(name) = lower(?) AND password_hash = ?;

-- set_user_disabled
UPDATE "user" SET disabled = ? WHERE lower(name) = lower(?) RETURNING name;

-- remove_user
DELETE FROM "user" WHERE lower(name) = lower(?) RETURNING name;

-- add_session
INSERT INTO session (secret_hash, "user", created, last_used)
SELECT ?1, name, ?2, ?2 FROM "user" WHERE lower(name) = lower(?3) AND password_hash = ?4 AND disabled = 0
RETURNING "user";

-- session
SELECT u.name, level, workspaces, shelves, personas, u.created, created_by, disabled,
  session.created, last_used
FROM session JOIN "user" AS u ON u.name = session."user" WHERE secret_hash = ?;

-- touch_session
UPDATE session SET last_used = ?1 WHERE secret_hash = ?2 AND last_used < ?1;

-- drop_session
DELETE FROM session WHERE secret_hash = ? RETURNING "user";

-- drop_sessions_of
DELETE FROM session WHERE lower("user") = lower(?) AND secret_hash <> ?;

-- drop_old_sessions
DELETE FROM session WHERE created <= ? OR last_used <= ?;

-- attempt
SELECT failures, last FROM attempt WHERE subject = ?;

-- count_attempt
INSERT INTO attempt (subject, failures, last) VALUES (?1, 1, ?2)
ON CONFLICT (subject) DO UPDATE SET failures = attempt.failures + 1, last = ?2;

-- drop_attempt
DELETE FROM attempt WHERE subject = ?;

-- drop_old_attempts
DELETE FROM attempt WHERE last <= ?;

-- record_audit
INSERT INTO audit (at, actor, action, target, outcome, workspace, address)
VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING key;

-- audit_entries
SELECT at, actor, action, target, outcome, workspace, address, key
FROM audit
WHERE (?1 = 0 OR key < ?1) AND (CAST(?2 AS TEXT) IS NULL OR workspace = ?2)
  AND (CAST(?3 AS TEXT) IS NULL OR actor = ?3)
ORDER BY key DESC LIMIT ?4;

-- drop_old_audit
DELETE FROM audit WHERE at < ?;

-- drop_audit_of_refused
DELETE FROM audit WHERE outcome = 'refused' AND key <= (
  SELECT key FROM audit WHERE outcome = 'refused' ORDER BY key DESC LIMIT 1 OFFSET ?
);

-- drop_audit_of_others
DELETE FROM audit WHERE outcome <> 'refused' AND key <= (
  SELECT key FROM audit WHERE outcome <> 'refused' ORDER BY key DESC LIMIT 1 OFFSET ?
);
