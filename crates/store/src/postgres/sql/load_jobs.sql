-- Every live job without its payload, for a leader that begins.
SELECT id, kind, queue, priority, seq, created_at, due_at, retrying, cancel_wanted, attempt, burnt, lost,
       last_fence, unique_key, unique_for, tags, options
FROM ganger.job;
