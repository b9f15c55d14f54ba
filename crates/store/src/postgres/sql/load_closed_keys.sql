-- Keys that are closed, or were until lately.
SELECT queue, key, until FROM ganger.closed_key;
