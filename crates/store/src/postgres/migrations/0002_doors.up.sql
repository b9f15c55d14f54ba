-- Jobs that users' own transactions submit and end.
--
-- Two functions are for users, `ganger.enqueue` and `ganger.complete`. Both run with the rights of the schema's owner, so
-- that a role which may call them needs no right on any table. Neither takes a lock that the leader could meet while
-- the user's transaction goes on: one inserts into an inbox, the other into a table of its own, and what ends the job
-- runs when that transaction commits.

-- Kinds that were ever set.
CREATE TABLE ganger.kind (
    name     text COLLATE "C" NOT NULL PRIMARY KEY,
    settings text NOT NULL
);

-- The open lease of a job, where its handler may end the job by it: its fence, its session, and what is to be kept of the
-- attempt (see `codec.rs`). Empty for all other jobs.
ALTER TABLE ganger.job ADD COLUMN lease_fence bytea;
ALTER TABLE ganger.job ADD COLUMN lease_session uuid;
ALTER TABLE ganger.job ADD COLUMN lease_attempt bytea;

-- What users submitted, until the leader takes it in. Rows are seen when their transactions commit.
CREATE TABLE ganger.inbox (
    id         bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    job        uuid        NOT NULL,
    request    text        NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);

-- Jobs that a transaction under way is going to end. A row lives as long as that transaction.
CREATE TABLE ganger.completion (
    id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    job    uuid   NOT NULL,
    fence  bytea  NOT NULL,
    result json   NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);

CREATE INDEX completion_by_job ON ganger.completion (job);

-- Jobs that ended so, until the leader knows. Till then they are counted here: a counter is a row that every batch of
-- the leader changes, and nobody else may hold it.
CREATE TABLE ganger.completed (
    job uuid NOT NULL PRIMARY KEY
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);

-- Raises that a handler has lost the lease of its job.
CREATE FUNCTION ganger.raise_lease_lost(the_job uuid, hint text) RETURNS void LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'lease_lost: job % is not leased under this fence', the_job
        USING ERRCODE = 'ZG004', HINT = hint;
END $$;

-- The id of a job, from `job_` and 26 characters of Crockford's base32, or from the text of a UUID.
CREATE FUNCTION ganger.job_uuid(shown text) RETURNS uuid LANGUAGE plpgsql IMMUTABLE STRICT
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    bits varbit := B'';
    hex  text := '';
BEGIN
    IF shown !~* '^job_[0-7][0-9a-hjkmnp-tv-z]{25}$' THEN
        RETURN shown::uuid;
    END IF;
    FOR place IN 5..30 LOOP
        bits := bits || (strpos('0123456789ABCDEFGHJKMNPQRSTVWXYZ', upper(substr(shown, place, 1))) - 1)::bit(5);
    END LOOP;
    -- 26 characters hold 130 bits: the first two are nothing.
    FOR word IN 0..7 LOOP
        hex := hex || lpad(to_hex(substring(bits FROM 3 + 16 * word FOR 16)::bit(16)::integer), 4, '0');
    END LOOP;
    RETURN hex::uuid;
END $$;

-- The bytes of a fence, from `number.sequence.id`.
CREATE FUNCTION ganger.fence_bytes(shown text) RETURNS bytea LANGUAGE plpgsql IMMUTABLE STRICT
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF shown !~ '^[0-9]{1,18}\.[0-9]{1,18}\.[0-9a-fA-F]{1,16}$' THEN
        RAISE EXCEPTION 'not a fence: expected `number.sequence.id`' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    RETURN int8send(split_part(shown, '.', 1)::bigint) || decode(lpad(split_part(shown, '.', 3), 16, '0'), 'hex')
           || int8send(split_part(shown, '.', 2)::bigint);
END $$;

-- Ends the job that the calling transaction works on, if and when that transaction commits, under the fence of its lease.
-- A lease that is lost already is told at once, without waiting for anybody; one that is lost until the commit makes the
-- commit fail.
CREATE FUNCTION ganger.complete(job uuid, fence text, result json DEFAULT 'null') RETURNS void LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    the_job    CONSTANT uuid := job;
    the_fence  CONSTANT bytea := ganger.fence_bytes(fence);
    the_result CONSTANT json := coalesce(result, 'null');
    held       bytea;
BEGIN
    IF the_job IS NULL OR the_fence IS NULL THEN
        RAISE EXCEPTION 'a job is completed by its id and its fence: neither may be null'
            USING ERRCODE = 'null_value_not_allowed';
    END IF;
    IF octet_length(the_result::text) > 1048576 THEN
        RAISE EXCEPTION 'result_too_large: % bytes, the limit is 1048576', octet_length(the_result::text)
            USING ERRCODE = 'program_limit_exceeded';
    END IF;
    IF EXISTS (SELECT 1 FROM ganger.completion c WHERE c.job = the_job AND c.fence = the_fence) THEN
        RAISE EXCEPTION 'job % is completed by this transaction already', the_job
            USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;
    SELECT j.lease_fence INTO held FROM ganger.job j WHERE j.id = the_job;
    IF held IS DISTINCT FROM the_fence THEN
        PERFORM ganger.raise_lease_lost(the_job, CASE WHEN FOUND AND held IS NULL
            THEN 'roll back; jobs can be completed only if their kind was marked before they started: '
                 'ganger kind set KIND --transactional on'
            ELSE 'roll back, and leave the job to whoever has its lease now' END);
    END IF;
    -- A transaction that checks its constraints at once would otherwise hold the job from here on.
    SET CONSTRAINTS ganger.completion_ends_its_job DEFERRED;
    INSERT INTO ganger.completion (job, fence, result) VALUES (the_job, the_fence, the_result);
END $$;

CREATE FUNCTION ganger.complete(job text, fence text, result json DEFAULT 'null') RETURNS void LANGUAGE sql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT ganger.complete(ganger.job_uuid(job), fence, result);
$$;

-- Ends a job for its handler: runs while that transaction commits. From the lock on nobody else can end it, and nobody
-- should have to wait for long: a transaction that lingers here (its constraints were checked early, or others of its
-- own make it wait) is cut off, and one that would be prepared for a second phase is refused.
CREATE FUNCTION ganger.end_completed() RETURNS trigger LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    day_micros CONSTANT bigint := 86400000000;
    live ganger.job%ROWTYPE;
    at   bigint;
    who  bytea;
BEGIN
    SELECT * INTO live FROM ganger.job j WHERE j.id = NEW.job FOR UPDATE;
    IF live.lease_fence IS DISTINCT FROM NEW.fence THEN
        PERFORM ganger.raise_lease_lost(NEW.job, 'the lease was lost before the commit, and all of it is rolled back');
    END IF;
    PERFORM set_config(s.name, '2000', true) FROM pg_settings s
    WHERE s.name IN ('lock_timeout', 'idle_in_transaction_session_timeout')
      AND (s.setting::integer = 0 OR s.setting::integer > 2000);
    IF current_setting('max_prepared_transactions')::integer > 0 THEN
        -- Whoever has notified cannot prepare.
        PERFORM pg_notify('ganger_completed', '');
    END IF;
    at := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
    DELETE FROM ganger.completion WHERE id = NEW.id;
    DELETE FROM ganger.job WHERE id = live.id;
    INSERT INTO ganger.completed (job) VALUES (live.id);
    IF live.unique_key IS NOT NULL AND live.unique_for IS NOT NULL THEN
        UPDATE ganger.unique_key u SET until = at + live.unique_for
        WHERE u.kind = live.kind AND u.key = live.unique_key AND u.job = live.id;
    ELSIF live.unique_key IS NOT NULL THEN
        DELETE FROM ganger.unique_key u WHERE u.kind = live.kind AND u.key = live.unique_key AND u.job = live.id;
    END IF;
    IF EXISTS (SELECT 1 FROM ganger.queue q
               WHERE q.name = live.queue AND q.settings::json -> 'retention' ->> 'finished' = 'none') THEN
        DELETE FROM ganger.attempt a WHERE a.job = live.id;
        DELETE FROM ganger.log l WHERE l.job = live.id;
        DELETE FROM ganger.payload p WHERE p.job = live.id;
        RETURN NULL;
    END IF;
    SELECT convert_to(s.record::json -> 'worker' ->> 'name', 'UTF8') INTO who
    FROM ganger.session s WHERE s.id = live.lease_session;
    who := coalesce(who, '');
    PERFORM ganger.make_day((at / day_micros)::integer)
    WHERE to_regclass('ganger.job_history_' || to_char(date '1970-01-01' + (at / day_micros)::integer, 'YYYYMMDD')) IS NULL;
    INSERT INTO ganger.job_history (id, seq, created_at, due_at, finished_at, run_at, unique_for, attempt, burnt, lost,
        priority, state, cancel_wanted, kind, queue, last_fence, unique_key, tags, options, payload, result, reason,
        last_attempt)
    VALUES (live.id, live.seq, live.created_at, live.due_at, at, live.run_at, live.unique_for, live.attempt + 1,
        live.burnt + 1, 0, live.priority, 0, live.cancel_wanted, live.kind, live.queue, NULL, live.unique_key, live.tags,
        live.options, live.payload, convert_to(NEW.result::text, 'UTF8'), NULL,
        '\x02'::bytea || int8send(at) || int4send(octet_length(who)) || who || live.lease_attempt);
    RETURN NULL;
END $$;

CREATE CONSTRAINT TRIGGER completion_ends_its_job AFTER INSERT ON ganger.completion
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION ganger.end_completed();

-- Submits a job, if and when the calling transaction commits. Returns its id. The payload keeps its text. What else a job
-- can be given goes into `options`, as in the body of POST /v1/jobs.
CREATE FUNCTION ganger.enqueue(
    kind       text,
    payload    json        DEFAULT 'null',
    queue      text        DEFAULT NULL,
    priority   integer     DEFAULT NULL,
    run_at     timestamptz DEFAULT NULL,
    delay      interval    DEFAULT NULL,
    unique_key text        DEFAULT NULL,
    options    json        DEFAULT NULL
) RETURNS uuid LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    name  CONSTANT text := '^[A-Za-z0-9_.:-]{1,128}$';
    at    CONSTANT timestamptz := coalesce(run_at, clock_timestamp() + delay);
    body  CONSTANT text := coalesce(payload, 'null')::text;
    given jsonb;
    named jsonb;
    job   bytea;
BEGIN
    IF kind IS NULL OR kind !~ name OR queue !~ name THEN
        RAISE EXCEPTION '`%` has a name of 1 to 128 letters, digits and _ . : -',
            CASE WHEN kind IS NULL OR kind !~ name THEN 'kind' ELSE 'queue' END USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF priority NOT BETWEEN -128 AND 127 THEN
        RAISE EXCEPTION '`priority` is %, allowed are -128 to 127', priority USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF run_at IS NOT NULL AND delay IS NOT NULL THEN
        RAISE EXCEPTION '`delay` cannot be given together with `run_at`' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF NOT isfinite(at) OR extract(year FROM at) NOT BETWEEN 1970 AND 9999 THEN
        RAISE EXCEPTION '`run_at` is not a moment between 1970 and 9999' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF octet_length(body) > 1048576 THEN
        RAISE EXCEPTION '`payload` has % bytes, the limit is 1048576', octet_length(body)
            USING ERRCODE = 'program_limit_exceeded';
    END IF;
    IF octet_length(unique_key) NOT BETWEEN 1 AND 256 THEN
        RAISE EXCEPTION '`unique_key` has 1 to 256 bytes' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF json_typeof(options) <> 'object' OR octet_length(options::text) > 65536 THEN
        RAISE EXCEPTION '`options` is an object of at most 65536 bytes' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    named := jsonb_strip_nulls(jsonb_build_object('kind', kind, 'queue', queue, 'priority', priority,
        'unique_key', unique_key, 'run_at', to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')));
    given := coalesce(options, '{}')::jsonb;
    IF given ?| array['kind', 'payload', 'queue', 'priority', 'run_at', 'delay', 'unique_key'] THEN
        RAISE EXCEPTION '`options` names what has a parameter of its own' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    -- A UUID of version 7: milliseconds, then chance.
    job := substring(int8send((extract(epoch FROM clock_timestamp()) * 1000)::bigint) FROM 3)
           || substring(uuid_send(gen_random_uuid()) FROM 7);
    job := set_byte(job, 6, get_byte(job, 6) & 15 | 112);
    INSERT INTO ganger.inbox (job, request)
    VALUES (encode(job, 'hex')::uuid, left((given || named)::text, -1) || ', "payload": ' || body || '}');
    PERFORM pg_notify('ganger_inbox', '');
    RETURN encode(job, 'hex')::uuid;
END $$;

REVOKE ALL ON FUNCTION ganger.enqueue(text, json, text, integer, timestamptz, interval, text, json) FROM PUBLIC;
REVOKE ALL ON FUNCTION ganger.complete(uuid, text, json) FROM PUBLIC;
REVOKE ALL ON FUNCTION ganger.complete(text, text, json) FROM PUBLIC;
REVOKE ALL ON FUNCTION ganger.end_completed() FROM PUBLIC;
