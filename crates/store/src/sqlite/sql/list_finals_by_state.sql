-- Dead or cancelled jobs, newest first, from an id on. The second condition on the state is that of the
-- partial index.
SELECT id, seq, kind, queue, priority, created_at, run_at, due_at, cancel_wanted, attempt, burnt, lost,
       last_fence, unique_key, options, payload, state, finished_at, result, reason, last_attempt
FROM job_final WHERE state = ?2 AND state <> 0 AND id < ?1 ORDER BY id DESC;
