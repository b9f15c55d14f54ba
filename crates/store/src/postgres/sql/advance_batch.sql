-- The last statement of a batch: its number is taken, its outcomes can be asked for again.
UPDATE ganger.batch SET number = $1, outcomes = $2, last_seq = greatest(last_seq, $3);
