-- The last lease of an assignment has ended.
DELETE FROM assignment WHERE first_fence = ?1;
