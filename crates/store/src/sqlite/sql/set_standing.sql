-- How a schedule stands after occurrences of it were decided.
UPDATE schedule SET standing = ?2 WHERE id = ?1;
