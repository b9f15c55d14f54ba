-- Schedules: what a person wrote, and how far each has come.
CREATE TABLE schedule (
    id       BLOB NOT NULL PRIMARY KEY,
    name     TEXT NOT NULL CONSTRAINT a_name_is_one_schedules UNIQUE,
    record   TEXT NOT NULL,
    standing TEXT NOT NULL
) STRICT;

-- The firing ledger: a row per schedule and due instant, written with the job that it made. Rows come in the order of
-- instants, and are read backwards.
CREATE TABLE occurrence (
    schedule   BLOB    NOT NULL,
    due_at     INTEGER NOT NULL,
    decided_at INTEGER NOT NULL,
    cause      TEXT    NOT NULL,
    state      TEXT    NOT NULL,
    job        BLOB,
    why        TEXT,
    since      INTEGER,
    count      INTEGER NOT NULL,
    PRIMARY KEY (schedule, due_at),
    CONSTRAINT what_fired_made_a_job CHECK (state <> 'fired' OR job IS NOT NULL),
    CONSTRAINT what_was_skipped_has_a_reason CHECK ((state = 'skipped') = (why IS NOT NULL))
) STRICT, WITHOUT ROWID;
