-- What a request with this idempotency key was answered.
SELECT fingerprint, until, answer FROM idempotency WHERE scope = ?1 AND key = ?2;
