-- Failures that are one, by their fingerprint, with the last of them as a sample.
CREATE TABLE failure (
    fingerprint INTEGER NOT NULL PRIMARY KEY,
    kind        TEXT    NOT NULL,
    count       INTEGER NOT NULL,
    first_at    INTEGER NOT NULL,
    last_at     INTEGER NOT NULL,
    job         BLOB    NOT NULL,
    error       TEXT    NOT NULL
) STRICT;

-- The last seen first, for lists; the other way round for retention.
CREATE INDEX failure_by_age ON failure (last_at, fingerprint);

-- Documents of the server's own: saved views, bulk operations.
CREATE TABLE document (
    collection TEXT NOT NULL,
    key        TEXT NOT NULL,
    body       TEXT NOT NULL,
    PRIMARY KEY (collection, key)
) STRICT, WITHOUT ROWID;
