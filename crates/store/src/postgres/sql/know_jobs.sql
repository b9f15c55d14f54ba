-- What a batch must know of live jobs that it touches.
SELECT id, kind, unique_key, unique_for, last_fence FROM ganger.job WHERE id = ANY ($1);
