-- Keys of queues are closed until then.
INSERT INTO ganger.closed_key (queue, key, until) SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[])
ON CONFLICT (queue, key) DO UPDATE SET until = excluded.until;
