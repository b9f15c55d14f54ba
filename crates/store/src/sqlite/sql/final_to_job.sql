-- Copies a final job back to the live ones, at the end of the order of intake, with its allowance renewed.
INSERT INTO job (id, seq, kind, queue, priority, created_at, run_at, due_at, retrying, cancel_wanted,
                 attempt, burnt, lost, last_fence, unique_key, options, payload)
SELECT id, ?2, kind, queue, priority, created_at, run_at, ?3, 0, 0,
       attempt, 0, 0, last_fence, unique_key, options, payload
FROM job_final WHERE id = ?1;
