-- How often the failures of a group came, in buckets of five minutes since 1970. Of failures before this only the last of each
-- group is known. The row of the running bucket changes often.
CREATE TABLE ganger.failure_trend (
    fingerprint bigint NOT NULL,
    bucket      bigint NOT NULL,
    count       bigint NOT NULL CONSTRAINT a_bucket_counts_something CHECK (count > 0),
    PRIMARY KEY (fingerprint, bucket)
) WITH (fillfactor = 70);

INSERT INTO ganger.failure_trend (fingerprint, bucket, count) SELECT fingerprint, last_at / 300000000, 1 FROM ganger.failure;
