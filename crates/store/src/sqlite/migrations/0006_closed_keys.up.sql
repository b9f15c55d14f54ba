-- Keys of queues that are closed for a while, so that the next leader knows. They are few, and short-lived.
CREATE TABLE closed_key (
    queue TEXT    NOT NULL,
    key   TEXT    NOT NULL,
    until INTEGER NOT NULL,
    PRIMARY KEY (queue, key)
) STRICT, WITHOUT ROWID;
