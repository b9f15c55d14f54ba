-- Forgets what was counted of the groups that are about to be forgotten: the same choice, before it is carried out.
DELETE FROM failure_trend WHERE fingerprint IN (
    SELECT fingerprint FROM failure ORDER BY last_at, fingerprint
    LIMIT min(?2, max((SELECT count(*) FROM failure WHERE last_at <= ?1), (SELECT count(*) FROM failure) - ?3)));
