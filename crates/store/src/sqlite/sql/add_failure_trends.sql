-- Counts failures of one group in one bucket.
INSERT INTO failure_trend (fingerprint, bucket, count) VALUES (?1, ?2, ?3)
ON CONFLICT (fingerprint, bucket) DO UPDATE SET count = count + excluded.count;
