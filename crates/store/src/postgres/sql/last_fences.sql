-- The fences that these jobs last ended under, of those that are live.
SELECT id, last_fence FROM ganger.job WHERE id = ANY ($1);
