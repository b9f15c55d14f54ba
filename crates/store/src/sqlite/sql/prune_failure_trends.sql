-- Forgets the oldest buckets before this one. Every bucket is of a group that is known, and of each group only the old end of its
-- rows is looked at.
DELETE FROM failure_trend WHERE (fingerprint, bucket) IN (
    SELECT t.fingerprint, t.bucket FROM failure AS f CROSS JOIN failure_trend AS t
    WHERE t.fingerprint = f.fingerprint AND t.bucket < ?1 ORDER BY t.bucket, t.fingerprint LIMIT ?2);
