-- A payload that is too large for its row.
SELECT body FROM payload WHERE job = ?1;
