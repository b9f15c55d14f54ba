-- A new live job: one row, one tree.
INSERT INTO job (id, seq, kind, queue, priority, created_at, run_at, due_at, retrying, cancel_wanted,
                 attempt, burnt, lost, last_fence, unique_key, options, payload)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 0, 0, 0, 0, 0, NULL, ?9, ?10, ?11);
