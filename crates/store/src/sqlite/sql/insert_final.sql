-- A final job, with how it ended. Plain values: copying the row with INSERT … SELECT would make SQLite keep
-- a journal for the statement alone.
INSERT INTO job_final (id, state, seq, kind, queue, priority, created_at, run_at, due_at, finished_at,
                       cancel_wanted, attempt, burnt, lost, last_fence, unique_key, options, reason,
                       last_attempt, payload, result)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21);
