-- Counts failures of groups in their buckets.
INSERT INTO ganger.failure_trend AS t (fingerprint, bucket, count)
SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[])
ON CONFLICT (fingerprint, bucket) DO UPDATE SET count = t.count + excluded.count;
