-- One live job without its payload, as the coordinator knows it.
SELECT id, kind, queue, priority, seq, created_at, due_at, retrying, cancel_wanted, attempt, burnt, lost,
       last_fence, unique_key, options
FROM job WHERE id = ?1;
