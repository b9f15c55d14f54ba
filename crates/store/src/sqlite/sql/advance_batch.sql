-- The last statement of a batch: its number is taken, its outcomes can be asked for again.
UPDATE leader SET batch = ?1, outcomes = ?2, last_seq = max(last_seq, ?3);
