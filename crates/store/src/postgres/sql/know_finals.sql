-- What a batch must know of final jobs that it touches: whether they are there, and for a replay all but the payload.
SELECT id, kind, queue, priority, created_at, attempt, last_fence, unique_key, unique_for, tags, options,
       state, last_attempt
FROM ganger.job_history WHERE id = ANY ($1)
UNION ALL
SELECT id, kind, queue, priority, created_at, attempt, last_fence, unique_key, unique_for, tags, options,
       state, last_attempt
FROM ganger.job_dead WHERE id = ANY ($1);
