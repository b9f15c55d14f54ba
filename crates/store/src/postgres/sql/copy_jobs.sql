-- New live jobs, many of them: the cheapest way in, which writes whole pages to the log.
COPY ganger.job (id, seq, created_at, due_at, run_at, unique_for, attempt, burnt, lost, priority, retrying,
                 cancel_wanted, kind, queue, last_fence, unique_key, tags, options, payload)
FROM STDIN (FORMAT binary);
