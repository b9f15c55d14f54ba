-- The present term and its last batch. Read inside each transaction, after the write lock is held, so
-- that a deposed leader is refused by the database and not by a comparison made earlier.
SELECT term, term_id, batch FROM leader;
