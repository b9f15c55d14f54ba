-- A live job becomes a final one: its row, with how it ended. The values stay inside the database. `OR FAIL`, because
-- SQLite otherwise keeps a journal for each statement that might write several rows; the batch is rolled back anyway.
INSERT OR FAIL INTO job_final (id, state, seq, kind, queue, priority, created_at, run_at, due_at, finished_at,
                               cancel_wanted, attempt, burnt, lost, last_fence, unique_key, options, reason,
                               last_attempt, payload, result)
SELECT id, ?2, seq, kind, queue, priority, created_at, run_at, due_at, ?3, cancel_wanted, coalesce(?4, attempt),
       coalesce(?5, burnt), coalesce(?6, lost), coalesce(?7, last_fence), unique_key, options, ?8, ?9, payload, ?10
FROM job WHERE id = ?1;
