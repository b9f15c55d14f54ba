-- What was counted in a minute so far.
SELECT counts, total FROM minute WHERE minute = ?1 AND queue = ?2 AND kind = ?3;
