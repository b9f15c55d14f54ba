-- The first schema.
--
-- Live and final jobs are apart: the live table stays small, and ending a job is one delete and one
-- insert. Neither has more indexes than its reads need, for every index is a write per job.
-- Moments are microseconds since the Unix epoch. Ids are the 16 bytes of a UUID. A fence is 24 bytes:
-- term number, term id, sequence, big-endian, so that bytes compare as fences do.

-- Who leads, and the last batch of that term. `outcomes` is empty where each change came to what it
-- usually does. `last_seq` is the largest intake sequence ever given.
CREATE TABLE leader (
    one      INTEGER PRIMARY KEY CONSTRAINT there_is_one_leader CHECK (one = 1),
    term     INTEGER NOT NULL,
    term_id  INTEGER NOT NULL,
    server   TEXT    NOT NULL,
    batch    INTEGER NOT NULL,
    outcomes TEXT,
    last_seq INTEGER NOT NULL
) STRICT;

INSERT INTO leader (one, term, term_id, server, batch, last_seq) VALUES (1, 0, 0, '', 0, 0);

-- Live jobs. `options` holds only what differs from the default. `payload` is empty where the payload
-- is large and sits in its own table.
CREATE TABLE job (
    id            BLOB    NOT NULL PRIMARY KEY,
    seq           INTEGER NOT NULL,
    kind          TEXT    NOT NULL,
    queue         TEXT    NOT NULL,
    priority      INTEGER NOT NULL,
    created_at    INTEGER NOT NULL,
    run_at        INTEGER,
    due_at        INTEGER NOT NULL,
    retrying      INTEGER NOT NULL,
    cancel_wanted INTEGER NOT NULL,
    attempt       INTEGER NOT NULL,
    burnt         INTEGER NOT NULL,
    lost          INTEGER NOT NULL,
    last_fence    BLOB,
    unique_key    TEXT,
    options       TEXT,
    payload       TEXT
) STRICT, WITHOUT ROWID;

-- Final jobs that are kept. `state` is 0 for succeeded, 1 for dead, 2 for cancelled. The row carries its
-- last attempt; earlier ones have rows of their own.
CREATE TABLE job_final (
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

-- For retention and purge: the oldest of a queue first, dead ones apart.
CREATE INDEX job_final_by_age ON job_final (queue, state, finished_at, id);

-- For lists by state. Most jobs succeed; a list of those needs no index.
CREATE INDEX job_final_by_state ON job_final (state, id) WHERE state <> 0;

-- Payloads above the inline bound, written once, whether their job is live or final.
CREATE TABLE payload (
    job  BLOB NOT NULL PRIMARY KEY,
    body TEXT NOT NULL
) STRICT;

-- Recorded attempts before the last one of a final job.
CREATE TABLE attempt (
    job    BLOB    NOT NULL,
    number INTEGER NOT NULL,
    record BLOB    NOT NULL,
    PRIMARY KEY (job, number)
) STRICT, WITHOUT ROWID;

-- Leases, one row per assignment message. A row goes away with its last lease.
CREATE TABLE assignment (
    first_fence BLOB    NOT NULL PRIMARY KEY,
    session     BLOB    NOT NULL,
    at          INTEGER NOT NULL,
    leases      BLOB    NOT NULL
) STRICT, WITHOUT ROWID;

-- Sessions ever opened. Of a closed one only the id stays, and stays refused; a closed claim is forgotten.
CREATE TABLE session (
    id     BLOB NOT NULL PRIMARY KEY,
    record TEXT
) STRICT, WITHOUT ROWID;

-- Queues that were ever set.
CREATE TABLE queue (
    name     TEXT NOT NULL PRIMARY KEY,
    settings TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Requests by idempotency key, with the answer they were given.
CREATE TABLE idempotency (
    scope       TEXT    NOT NULL,
    key         TEXT    NOT NULL,
    fingerprint BLOB    NOT NULL,
    until       INTEGER NOT NULL,
    answer      BLOB    NOT NULL,
    PRIMARY KEY (scope, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX idempotency_by_age ON idempotency (until);

-- Who holds a unique key: while live without an end, after success until a moment.
CREATE TABLE unique_key (
    kind  TEXT NOT NULL,
    key   TEXT NOT NULL,
    job   BLOB NOT NULL,
    until INTEGER,
    PRIMARY KEY (kind, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX unique_key_by_age ON unique_key (until) WHERE until IS NOT NULL;

-- Final jobs that are kept, counted, so that nobody counts rows.
CREATE TABLE counter (
    queue TEXT    NOT NULL,
    kind  TEXT    NOT NULL,
    state INTEGER NOT NULL,
    count INTEGER NOT NULL CONSTRAINT a_count_is_never_negative CHECK (count >= 0),
    PRIMARY KEY (queue, kind, state)
) STRICT, WITHOUT ROWID;

-- What attempts logged.
CREATE TABLE log (
    job     BLOB    NOT NULL,
    attempt INTEGER NOT NULL,
    text    TEXT    NOT NULL,
    PRIMARY KEY (job, attempt)
) STRICT;
