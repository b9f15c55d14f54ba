-- Kinds that were ever set.
CREATE TABLE kind (
    name     TEXT NOT NULL PRIMARY KEY,
    settings TEXT NOT NULL
) STRICT, WITHOUT ROWID;
