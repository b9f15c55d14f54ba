-- A whole batch and its transaction in one statement, if it only takes in jobs and leases them: most of those for which
-- somebody waits. It does what begin_batch, insert_jobs, put_answers, insert_assignments, add_minutes and advance_batch do one
-- after the other. Where the guard or the expectation raises, nothing was done.
WITH held AS MATERIALIZED (SELECT ganger.begin_batch($1, $2, $3)),
advanced AS (
    UPDATE ganger.batch SET number = $3, outcomes = $4, last_seq = greatest(last_seq, $5) FROM held
),
created AS (
    INSERT INTO ganger.job (id, seq, created_at, due_at, run_at, unique_for, attempt, burnt, lost, priority, retrying,
                            cancel_wanted, kind, queue, last_fence, unique_key, tags, options, payload)
    SELECT n.id, n.seq, n.created_at, n.due_at, n.run_at, n.unique_for, 0, 0, 0, n.priority, false,
           n.cancel_wanted, n.kind, n.queue, NULL, n.unique_key, n.tags, n.options, n.payload
    FROM held, unnest($6::uuid[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[], $12::smallint[],
                      $13::boolean[], $14::text[], $15::text[], $16::text[], $17::text[], $18::text[], $19::bytea[])
      AS n (id, seq, created_at, due_at, run_at, unique_for, priority, cancel_wanted, kind, queue, unique_key, tags,
            options, payload)
),
put AS (
    INSERT INTO ganger.idempotency AS present (scope, key, fingerprint, until, answer)
    SELECT k.* FROM held, unnest($20::bytea[], $21::bytea[], $22::bytea[], $23::bigint[], $24::bytea[]) AS k
    ON CONFLICT (scope, key) DO UPDATE
    SET fingerprint = excluded.fingerprint, until = excluded.until, answer = excluded.answer
    WHERE present.until <= $25
    RETURNING 1
),
assigned AS (
    INSERT INTO ganger.assignment (first_fence, session, at, leases)
    SELECT a.* FROM held, unnest($27::bytea[], $28::uuid[], $29::bigint[], $30::bytea[]) AS a
),
added AS (
    INSERT INTO ganger.minute AS m (minute, queue, kind, numbers, wait, run, total)
    SELECT $31::bigint, queue, kind, numbers::bigint[], wait::bigint[], run::bigint[], total::bigint[]
    FROM held, unnest($32::text[], $33::text[], $34::text[], $35::text[], $36::text[], $37::text[])
        AS counted(queue, kind, numbers, wait, run, total)
    ON CONFLICT (minute, queue, kind) DO UPDATE
    SET numbers = ganger.add_each(m.numbers, excluded.numbers),
        wait = ganger.add_each(m.wait, excluded.wait),
        run = ganger.add_each(m.run, excluded.run),
        total = ganger.add_each(m.total, excluded.total)
)
SELECT ganger.expect((SELECT count(*) FROM put), $26);
