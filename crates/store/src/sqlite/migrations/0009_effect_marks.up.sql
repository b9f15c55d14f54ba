-- Attempts that are about to do what cannot be repeated, so that the next leader knows. They are few, and short-lived.
CREATE TABLE effect_mark (
    job   BLOB NOT NULL PRIMARY KEY,
    fence BLOB NOT NULL
) STRICT, WITHOUT ROWID;
