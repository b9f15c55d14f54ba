-- Takes the cheaper constraint back; no job is lost.
CREATE TABLE job_final_rebuilt (
    id            BLOB    NOT NULL PRIMARY KEY,
    state         INTEGER NOT NULL CONSTRAINT final_is_succeeded_dead_or_cancelled CHECK (state IN (0, 1, 2)),
    seq           INTEGER NOT NULL,
    kind          TEXT    NOT NULL,
    queue         TEXT    NOT NULL,
    priority      INTEGER NOT NULL,
    created_at    INTEGER NOT NULL,
    run_at        INTEGER,
    due_at        INTEGER NOT NULL,
    finished_at   INTEGER NOT NULL,
    cancel_wanted INTEGER NOT NULL,
    attempt       INTEGER NOT NULL,
    burnt         INTEGER NOT NULL,
    lost          INTEGER NOT NULL,
    last_fence    BLOB,
    unique_key    TEXT,
    options       TEXT,
    reason        TEXT,
    last_attempt  BLOB,
    payload       TEXT,
    result        TEXT
) STRICT, WITHOUT ROWID;

INSERT INTO job_final_rebuilt SELECT * FROM job_final;
DROP TABLE job_final;
ALTER TABLE job_final_rebuilt RENAME TO job_final;

CREATE INDEX job_final_by_age ON job_final (queue, state, finished_at, id);
CREATE INDEX job_final_by_state ON job_final (state, id) WHERE state <> 0;
