-- Live jobs of a list of ids (hexadecimal, a JSON array), newest first: those that hold a lease.
SELECT id, seq, kind, queue, priority, created_at, run_at, due_at, cancel_wanted, attempt, burnt, lost,
       last_fence, unique_key, options, payload, retrying
FROM job WHERE id < ?1 AND id IN (SELECT unhex(value) FROM json_each(?2)) ORDER BY id DESC;
