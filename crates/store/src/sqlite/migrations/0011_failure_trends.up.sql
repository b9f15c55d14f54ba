-- How often the failures of a group came, in buckets of five minutes since 1970. Of failures before this only the last of each
-- group is known.
CREATE TABLE failure_trend (
    fingerprint INTEGER NOT NULL,
    bucket      INTEGER NOT NULL,
    count       INTEGER NOT NULL CONSTRAINT a_bucket_counts_something CHECK (count > 0),
    PRIMARY KEY (fingerprint, bucket)
) STRICT, WITHOUT ROWID;

INSERT INTO failure_trend (fingerprint, bucket, count) SELECT fingerprint, last_at / 300000000, 1 FROM failure;
