-- Removes a job from the live ones. What is needed of it was read before: RETURNING would build a table for
-- one row.
DELETE FROM job WHERE id = ?1;
