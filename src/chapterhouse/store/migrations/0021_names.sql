-- What people said of names in the graph, which is derived and made anew: a key means another one,
-- or itself where it is to stand alone.
CREATE TABLE name_decision (
  name TEXT PRIMARY KEY,
  entity TEXT NOT NULL,
  decided INTEGER NOT NULL,  -- seconds
  decided_by TEXT NOT NULL
) STRICT, WITHOUT ROWID;
