-- The first statement of a batch: this term still holds, and the batch before it was the last one.
SELECT ganger.begin_batch($1, $2, $3);
