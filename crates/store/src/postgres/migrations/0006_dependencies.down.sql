-- Blocked jobs have nobody left to wait for: they are due when they would have been.
UPDATE ganger.job SET due_at = due_at - 4611686018427387904 WHERE due_at >= 4611686018427387904;
UPDATE ganger.job_history SET due_at = due_at - 4611686018427387904 WHERE due_at >= 4611686018427387904;
UPDATE ganger.job_dead SET due_at = due_at - 4611686018427387904 WHERE due_at >= 4611686018427387904;
DROP TRIGGER completed_settles_its_edges ON ganger.completed;
DROP FUNCTION ganger.settle_completed();
DROP TABLE ganger.edge;
