-- Forgets what was counted of the groups that are about to be forgotten: the same choice, before it is carried out.
DELETE FROM ganger.failure_trend WHERE fingerprint = ANY (ARRAY(
    SELECT fingerprint FROM ganger.failure ORDER BY last_at, fingerprint
    LIMIT least($2::bigint, greatest((SELECT count(*) FROM ganger.failure WHERE last_at <= $1),
                                     (SELECT count(*) FROM ganger.failure) - $3::bigint))));
