-- Which of these sessions were closed.
SELECT id FROM ganger.session WHERE id = ANY ($1) AND record IS NULL;
