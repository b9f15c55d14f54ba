-- Frees a unique key.
DELETE FROM unique_key WHERE kind = ?1 AND key = ?2;
