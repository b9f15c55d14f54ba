-- Forgets the ledger of a schedule up to an instant.
DELETE FROM occurrence WHERE schedule = ?1 AND due_at <= ?2;
