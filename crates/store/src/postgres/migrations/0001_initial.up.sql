-- The first schema.
--
-- Live and final jobs are apart: the live table stays small, and ending a job is one delete and one insert.
-- No table has more indexes than its reads need, for every index is a write per job. Moments of jobs are
-- microseconds since the Unix epoch, by the leader's clock; the ages of leadership are by the database's own. A fence
-- is 24 bytes: term number, term id, sequence, big-endian, so that bytes compare as fences do. What a client may
-- have sent without anyone having looked at its characters is bytes, because text cannot hold a zero.

-- Who leads. Renewed by its leader; never written in the transaction of a batch, so that a batch that
-- hangs does not keep its leader from renewing.
CREATE TABLE ganger.leader (
    one        smallint    PRIMARY KEY CONSTRAINT there_is_one_leader CHECK (one = 1),
    term       bigint      NOT NULL,
    term_id    bigint      NOT NULL,
    ttl_micros bigint      NOT NULL,
    since      timestamptz NOT NULL,
    renewed_at timestamptz NOT NULL,
    resigned   boolean     NOT NULL,
    server     text        NOT NULL,
    address    text        NOT NULL
) WITH (fillfactor = 10);

INSERT INTO ganger.leader (one, term, term_id, ttl_micros, since, renewed_at, resigned, server, address)
VALUES (1, 0, 0, 0, clock_timestamp(), clock_timestamp(), true, '', '');

-- The last batch of the present term. `outcomes` is empty where each change came to what it usually does. `last_seq`
-- is the largest intake sequence ever given.
CREATE TABLE ganger.batch (
    one      smallint PRIMARY KEY CONSTRAINT there_is_one_last_batch CHECK (one = 1),
    number   bigint   NOT NULL,
    last_seq bigint   NOT NULL,
    outcomes text
) WITH (fillfactor = 10);

INSERT INTO ganger.batch (one, number, last_seq) VALUES (1, 0, 0);

-- Live jobs. `options` holds only what differs from the default, `tags` is empty or has each tag between two
-- separators (U+001F). `payload` is empty where the payload is large and sits in its own table.
CREATE TABLE ganger.job (
    id            uuid     NOT NULL PRIMARY KEY,
    seq           bigint   NOT NULL,
    created_at    bigint   NOT NULL,
    due_at        bigint   NOT NULL,
    run_at        bigint,
    unique_for    bigint,
    attempt       integer  NOT NULL,
    burnt         integer  NOT NULL,
    lost          integer  NOT NULL,
    priority      smallint NOT NULL,
    retrying      boolean  NOT NULL,
    cancel_wanted boolean  NOT NULL,
    kind          text     COLLATE "C" NOT NULL,
    queue         text     COLLATE "C" NOT NULL,
    last_fence    bytea,
    unique_key    text     COLLATE "C",
    tags          text     COLLATE "C",
    options       text,
    payload       bytea
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 10000,
        autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0.05);

ALTER TABLE ganger.job ALTER COLUMN payload SET STORAGE MAIN;

-- Succeeded (0) and cancelled (2) jobs that are kept, by the day they finished, so that retention drops tables
-- instead of rows. The row carries its last attempt; earlier ones have rows of their own. `last_fence` is empty where
-- the last attempt has it.
CREATE TABLE ganger.job_history (
    id            uuid     NOT NULL,
    seq           bigint   NOT NULL,
    created_at    bigint   NOT NULL,
    due_at        bigint   NOT NULL,
    finished_at   bigint   NOT NULL,
    run_at        bigint,
    unique_for    bigint,
    attempt       integer  NOT NULL,
    burnt         integer  NOT NULL,
    lost          integer  NOT NULL,
    priority      smallint NOT NULL,
    state         smallint NOT NULL CONSTRAINT dead_jobs_lie_apart CHECK (state IN (0, 2)),
    cancel_wanted boolean  NOT NULL,
    kind          text     COLLATE "C" NOT NULL,
    queue         text     COLLATE "C" NOT NULL,
    last_fence    bytea,
    unique_key    text     COLLATE "C",
    tags          text     COLLATE "C",
    options       text,
    payload       bytea,
    result        bytea,
    reason        bytea,
    last_attempt  bytea
) PARTITION BY RANGE (finished_at);

ALTER TABLE ganger.job_history ALTER COLUMN payload SET STORAGE MAIN;

CREATE INDEX job_history_by_id ON ganger.job_history (id);

-- For retention: the oldest of a queue first.
CREATE INDEX job_history_by_age ON ganger.job_history (queue, finished_at, id);

-- For lists of cancelled jobs. Most jobs succeed; a list of those needs no index of its own.
CREATE INDEX job_history_cancelled ON ganger.job_history (id) WHERE state <> 0;

-- Dead jobs (1): fewer, kept longer, and purged by people.
CREATE TABLE ganger.job_dead (
    id            uuid     NOT NULL PRIMARY KEY,
    seq           bigint   NOT NULL,
    created_at    bigint   NOT NULL,
    due_at        bigint   NOT NULL,
    finished_at   bigint   NOT NULL,
    run_at        bigint,
    unique_for    bigint,
    attempt       integer  NOT NULL,
    burnt         integer  NOT NULL,
    lost          integer  NOT NULL,
    priority      smallint NOT NULL,
    state         smallint NOT NULL CONSTRAINT only_dead_jobs_are_dead CHECK (state = 1),
    cancel_wanted boolean  NOT NULL,
    kind          text     COLLATE "C" NOT NULL,
    queue         text     COLLATE "C" NOT NULL,
    last_fence    bytea,
    unique_key    text     COLLATE "C",
    tags          text     COLLATE "C",
    options       text,
    payload       bytea,
    result        bytea,
    reason        bytea,
    last_attempt  bytea
);

ALTER TABLE ganger.job_dead ALTER COLUMN payload SET STORAGE MAIN;

CREATE INDEX job_dead_by_age ON ganger.job_dead (queue, finished_at, id);

-- Payloads above the inline bound, written once, whether their job is live or final.
CREATE TABLE ganger.payload (
    job  uuid  NOT NULL PRIMARY KEY,
    body bytea NOT NULL
);

-- Recorded attempts before the last one of a final job.
CREATE TABLE ganger.attempt (
    job    uuid    NOT NULL,
    number integer NOT NULL,
    record bytea   NOT NULL,
    PRIMARY KEY (job, number)
);

-- Leases, one row per assignment message. A row goes away with its last lease. There are at most 256 leases
-- of a few bytes each, which fit a page: moving them out of the row would double the writes.
CREATE TABLE ganger.assignment (
    first_fence bytea  NOT NULL PRIMARY KEY,
    session     uuid   NOT NULL,
    at          bigint NOT NULL,
    leases      bytea  NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);

ALTER TABLE ganger.assignment ALTER COLUMN leases SET STORAGE PLAIN;

-- Sessions ever opened. Of a closed one only the id stays, and stays refused; a closed claim is forgotten.
CREATE TABLE ganger.session (
    id     uuid NOT NULL PRIMARY KEY,
    record text
);

CREATE INDEX session_open ON ganger.session (id) WHERE record IS NOT NULL;

-- Queues that were ever set.
CREATE TABLE ganger.queue (
    name     text COLLATE "C" NOT NULL PRIMARY KEY,
    settings text NOT NULL
);

-- Requests by idempotency key, with the answer they were given.
CREATE TABLE ganger.idempotency (
    scope       bytea  NOT NULL,
    key         bytea  NOT NULL,
    fingerprint bytea  NOT NULL,
    until       bigint NOT NULL,
    answer      bytea  NOT NULL,
    PRIMARY KEY (scope, key)
);

CREATE INDEX idempotency_by_age ON ganger.idempotency (until);

-- Who holds a unique key: while live without an end, after success until a moment.
CREATE TABLE ganger.unique_key (
    kind  text   COLLATE "C" NOT NULL,
    key   text   COLLATE "C" NOT NULL,
    job   uuid   NOT NULL,
    until bigint,
    PRIMARY KEY (kind, key)
);

CREATE INDEX unique_key_by_age ON ganger.unique_key (until) WHERE until IS NOT NULL;

-- Final jobs that are kept, counted by the day they finished, so that nobody counts rows.
CREATE TABLE ganger.counter (
    day   integer  NOT NULL,
    state smallint NOT NULL,
    queue text     COLLATE "C" NOT NULL,
    kind  text     COLLATE "C" NOT NULL,
    count bigint   NOT NULL CONSTRAINT a_count_is_never_negative CHECK (count >= 0),
    PRIMARY KEY (day, state, queue, kind)
) WITH (fillfactor = 50);

-- What attempts logged.
CREATE TABLE ganger.log (
    job     uuid    NOT NULL,
    attempt integer NOT NULL,
    text    bytea   NOT NULL,
    PRIMARY KEY (job, attempt)
);

-- After a day was dropped, what was kept beside its jobs is swept out in the order of ids: up to here so far.
CREATE TABLE ganger.sweep (
    one    smallint PRIMARY KEY CONSTRAINT there_is_one_sweep CHECK (one = 1),
    beyond uuid     NOT NULL
);

-- Servers that live, or did a while ago.
CREATE TABLE ganger.server (
    name       text        NOT NULL PRIMARY KEY,
    address    text        NOT NULL,
    version    text        NOT NULL,
    started_at bigint      NOT NULL,
    seen_at    timestamptz NOT NULL
) WITH (fillfactor = 50);

-- The guard of every leader's transaction. Whoever takes over holds this lock exclusively while it bumps the term, so
-- that after the bump no transaction of an earlier term can be under way. The row is read after the lock is held,
-- with a snapshot of its own, for this function is volatile.
CREATE FUNCTION ganger.assert_term(the_term bigint, the_id bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock_shared(1196314183, 0);
    IF NOT EXISTS (SELECT 1 FROM ganger.leader WHERE term = the_term AND term_id = the_id AND NOT resigned) THEN
        RAISE EXCEPTION 'the term is over: another leader has begun' USING ERRCODE = 'ZG001';
    END IF;
END $$;

-- Begins the transaction of a batch: in this term, after the batch before it. The row stays locked until the
-- transaction ends, so that one whose answer was lost and the same one sent again cannot both be under way.
CREATE FUNCTION ganger.begin_batch(the_term bigint, the_id bigint, the_number bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    last bigint;
BEGIN
    PERFORM ganger.assert_term(the_term, the_id);
    SELECT number INTO STRICT last FROM ganger.batch FOR UPDATE;
    IF last <> the_number - 1 THEN
        RAISE EXCEPTION 'batch % cannot follow batch %', the_number, last USING ERRCODE = 'ZG002', DETAIL = last::text;
    END IF;
END $$;

-- Raises if a statement met another number of rows than its leader believes in.
CREATE FUNCTION ganger.expect(met bigint, wanted bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF met <> wanted THEN
        RAISE EXCEPTION 'met % rows instead of %', met, wanted USING ERRCODE = 'ZG003';
    END IF;
END $$;

-- Makes the table for the jobs that finish on a day, if it is missing. Attached rather than made in place, because
-- that waits for nobody who reads.
CREATE FUNCTION ganger.make_day(the_day integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    day_micros CONSTANT bigint := 86400000000;
    name CONSTANT text := 'job_history_' || to_char(date '1970-01-01' + the_day, 'YYYYMMDD');
BEGIN
    PERFORM pg_advisory_xact_lock(1196314183, 2);
    IF to_regclass('ganger.' || name) IS NOT NULL THEN
        RETURN;
    END IF;
    EXECUTE format('CREATE TABLE ganger.%I (LIKE ganger.job_history INCLUDING ALL)', name);
    EXECUTE format('ALTER TABLE ganger.job_history ATTACH PARTITION ganger.%I FOR VALUES FROM (%s) TO (%s)',
                   name, the_day * day_micros, (the_day + 1) * day_micros);
END $$;

-- Drops the table of a day with its jobs, and tells how many of each sort there were. Whoever reads the history holds it
-- back; then nothing is dropped, and nothing told. What was kept beside the jobs is swept out later.
CREATE FUNCTION ganger.drop_day(the_day integer)
RETURNS TABLE (queue text, kind text, state smallint, count bigint) LANGUAGE plpgsql SET lock_timeout = '200ms' AS $$
BEGIN
    EXECUTE format('DROP TABLE IF EXISTS ganger.%I',
                   'job_history_' || to_char(date '1970-01-01' + the_day, 'YYYYMMDD'));
    INSERT INTO ganger.sweep (one, beyond) VALUES (1, '00000000-0000-0000-0000-000000000000')
    ON CONFLICT (one) DO UPDATE SET beyond = excluded.beyond;
    RETURN QUERY DELETE FROM ganger.counter c WHERE c.day = the_day AND c.state <> 1
    RETURNING c.queue, c.kind, c.state, c.count;
EXCEPTION WHEN lock_not_available THEN
    RETURN;
END $$;

-- Drops the table of a day in which nothing is left.
CREATE FUNCTION ganger.drop_empty_day(the_day integer) RETURNS boolean LANGUAGE plpgsql SET lock_timeout = '200ms' AS $$
DECLARE
    name CONSTANT text := 'job_history_' || to_char(date '1970-01-01' + the_day, 'YYYYMMDD');
    used boolean;
BEGIN
    EXECUTE format('LOCK TABLE ganger.%I IN ACCESS EXCLUSIVE MODE', name);
    EXECUTE format('SELECT EXISTS (SELECT 1 FROM ganger.%I)', name) INTO used;
    IF NOT used THEN
        EXECUTE format('DROP TABLE ganger.%I', name);
    END IF;
    RETURN NOT used;
EXCEPTION WHEN lock_not_available OR undefined_table THEN
    RETURN false;
END $$;
