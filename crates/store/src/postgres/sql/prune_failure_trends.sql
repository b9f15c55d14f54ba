-- Forgets the oldest buckets before this one. Every bucket is of a group that is known, and of each group only the old end of its
-- rows is looked at.
DELETE FROM ganger.failure_trend AS t USING (
    SELECT old.fingerprint, old.bucket FROM ganger.failure AS f CROSS JOIN LATERAL (
        SELECT b.fingerprint, b.bucket FROM ganger.failure_trend AS b
        WHERE b.fingerprint = f.fingerprint AND b.bucket < $1 ORDER BY b.bucket LIMIT $2
    ) AS old
    ORDER BY old.bucket, old.fingerprint LIMIT $2
) AS old
WHERE t.fingerprint = old.fingerprint AND t.bucket = old.bucket;
