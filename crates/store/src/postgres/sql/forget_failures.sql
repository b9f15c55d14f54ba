-- Forgets groups that were not seen for long, and the oldest of too many.
DELETE FROM ganger.failure WHERE fingerprint = ANY (ARRAY(
    SELECT fingerprint FROM ganger.failure ORDER BY last_at, fingerprint
    LIMIT least($2::bigint, greatest((SELECT count(*) FROM ganger.failure WHERE last_at <= $1),
                                     (SELECT count(*) FROM ganger.failure) - $3::bigint))));
