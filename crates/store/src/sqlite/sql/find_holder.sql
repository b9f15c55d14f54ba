-- Who holds a unique key, and until when.
SELECT job, until FROM unique_key WHERE kind = ?1 AND key = ?2;
