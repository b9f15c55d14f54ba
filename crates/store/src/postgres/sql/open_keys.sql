-- Keys of queues are open again.
DELETE FROM ganger.closed_key c USING unnest($1::text[], $2::text[]) AS opened (queue, key)
WHERE c.queue = opened.queue AND c.key = opened.key;
