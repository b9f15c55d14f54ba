-- Payloads of live jobs.
SELECT id, coalesce(payload, (SELECT p.body FROM ganger.payload p WHERE p.job = id))
FROM ganger.job WHERE id = ANY ($1);
