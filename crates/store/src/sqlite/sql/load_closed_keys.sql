-- Keys that are closed, or were until lately.
SELECT queue, key, until FROM closed_key;
