-- Live jobs by id. The first nineteen columns are those of final ones, so that both are read alike.
SELECT id, seq, kind, queue, priority, created_at, run_at, due_at, cancel_wanted, attempt, burnt, lost,
       last_fence, unique_key, unique_for, tags, options,
       coalesce(payload, (SELECT p.body FROM ganger.payload p WHERE p.job = id)),
       (SELECT a.record FROM ganger.attempt a WHERE a.job = id ORDER BY a.number DESC LIMIT 1),
       retrying
FROM ganger.job WHERE id = ANY ($1);
