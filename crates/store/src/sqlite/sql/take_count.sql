-- Final jobs that went, once per batch and sort. There is a row, for they came before; the constraint on the
-- count makes a wrong one loud.
UPDATE counter SET count = count - ?4 WHERE queue = ?1 AND kind = ?2 AND state = ?3;
