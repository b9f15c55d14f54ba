-- Forgets schedules with their ledgers.
WITH ledger AS (DELETE FROM ganger.occurrence WHERE schedule = ANY ($1))
DELETE FROM ganger.schedule WHERE id = ANY ($1);
