-- The last lease of each of these assignments has ended.
DELETE FROM ganger.assignment WHERE first_fence = ANY ($1);
