-- The settings of a queue, if it was ever set.
SELECT settings FROM queue WHERE name = ?1;
