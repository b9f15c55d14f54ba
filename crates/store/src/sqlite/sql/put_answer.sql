-- Remembers the answer to an idempotency key, over one that ran out.
INSERT OR REPLACE INTO idempotency (scope, key, fingerprint, until, answer) VALUES (?1, ?2, ?3, ?4, ?5);
