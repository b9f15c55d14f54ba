-- Forgets groups that were not seen for long, and the oldest of too many.
DELETE FROM failure WHERE fingerprint IN (
    SELECT fingerprint FROM failure ORDER BY last_at, fingerprint
    LIMIT min(?2, max((SELECT count(*) FROM failure WHERE last_at <= ?1), (SELECT count(*) FROM failure) - ?3)));
