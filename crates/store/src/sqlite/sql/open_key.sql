-- A key of a queue is open again.
DELETE FROM closed_key WHERE queue = ?1 AND key = ?2;
