-- What happened in each minute, by queue and kind. The counts are packed: they are read and added to as a whole.
CREATE TABLE minute (
    minute INTEGER NOT NULL,
    queue  TEXT    NOT NULL,
    kind   TEXT    NOT NULL,
    counts BLOB    NOT NULL,
    PRIMARY KEY (minute, queue, kind)
) STRICT, WITHOUT ROWID;
