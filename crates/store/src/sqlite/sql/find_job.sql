-- One live job. The first sixteen columns are those of a final one, so that both are read alike.
SELECT id, seq, kind, queue, priority, created_at, run_at, due_at, cancel_wanted, attempt, burnt, lost,
       last_fence, unique_key, options, payload, retrying
FROM job WHERE id = ?1;
