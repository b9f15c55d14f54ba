-- A page of live jobs without their payloads, by id, for a leader that compares them with its memory.
SELECT id, kind, queue, priority, seq, created_at, due_at, retrying, cancel_wanted, attempt, burnt, lost,
       last_fence, unique_key, unique_for, tags, options
FROM ganger.job WHERE id > $1 ORDER BY id LIMIT $2;
