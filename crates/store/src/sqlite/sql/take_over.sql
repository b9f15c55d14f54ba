-- Begins a term. Its batches are numbered from 1 again.
UPDATE leader SET term = ?1, term_id = ?2, server = ?3, batch = 0, outcomes = NULL;
