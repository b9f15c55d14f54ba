-- Live jobs, newest first, from an id on.
SELECT id, seq, kind, queue, priority, created_at, run_at, due_at, cancel_wanted, attempt, burnt, lost,
       last_fence, unique_key, options, payload, retrying
FROM job WHERE id < ?1 ORDER BY id DESC;
