-- Final jobs by id.
SELECT id, seq, kind, queue, priority, created_at, run_at, due_at, cancel_wanted, attempt, burnt, lost,
       last_fence, unique_key, unique_for, tags, options,
       coalesce(payload, (SELECT p.body FROM ganger.payload p WHERE p.job = id)),
       coalesce(last_attempt,
                (SELECT a.record FROM ganger.attempt a WHERE a.job = id ORDER BY a.number DESC LIMIT 1)),
       state, finished_at, result, reason
FROM ganger.job_history WHERE id = ANY ($1)
UNION ALL
SELECT id, seq, kind, queue, priority, created_at, run_at, due_at, cancel_wanted, attempt, burnt, lost,
       last_fence, unique_key, unique_for, tags, options,
       coalesce(payload, (SELECT p.body FROM ganger.payload p WHERE p.job = id)),
       coalesce(last_attempt,
                (SELECT a.record FROM ganger.attempt a WHERE a.job = id ORDER BY a.number DESC LIMIT 1)),
       state, finished_at, result, reason
FROM ganger.job_dead WHERE id = ANY ($1);
