-- Who leads, and whether somebody else may: its leader resigned, is the one who asks, did not renew in time by the
-- database's clock, or has closed the connection that holds the lock of its term. That lock is tried for no longer than
-- this statement.
SELECT l.term, l.term_id, l.server, l.address,
       (extract(epoch FROM l.since) * 1000000)::bigint,
       greatest(0, (extract(epoch FROM clock_timestamp() - l.renewed_at) * 1000000)::bigint),
       b.number,
       l.resigned,
       l.resigned OR l.server = $1
       OR clock_timestamp() - l.renewed_at > l.ttl_micros * interval '1 microsecond'
       OR pg_try_advisory_xact_lock_shared(5138130291725959168 + l.term)
FROM ganger.leader l, ganger.batch b;
