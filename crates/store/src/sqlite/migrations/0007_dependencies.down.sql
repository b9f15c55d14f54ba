-- Blocked jobs have nobody left to wait for: they are due when they would have been.
UPDATE job SET due_at = due_at - 4611686018427387904 WHERE due_at >= 4611686018427387904;
UPDATE job_final SET due_at = due_at - 4611686018427387904 WHERE due_at >= 4611686018427387904;
DROP TABLE edge;
