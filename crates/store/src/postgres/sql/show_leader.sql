-- Who leads, for whoever asks; the last column is that of `look_leader`, which tries a lock.
SELECT l.term, l.term_id, l.server, l.address,
       (extract(epoch FROM l.since) * 1000000)::bigint,
       greatest(0, (extract(epoch FROM clock_timestamp() - l.renewed_at) * 1000000)::bigint),
       b.number,
       l.resigned,
       false
FROM ganger.leader l, ganger.batch b;
