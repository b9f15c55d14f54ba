-- One final job.
SELECT id, seq, kind, queue, priority, created_at, run_at, due_at, cancel_wanted, attempt, burnt, lost,
       last_fence, unique_key, options, payload, state, finished_at, result, reason, last_attempt
FROM job_final WHERE id = ?1;
