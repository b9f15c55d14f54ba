-- Servers that live, or did a moment ago.
SELECT name, address, version, started_at,
       greatest(0, (extract(epoch FROM clock_timestamp() - seen_at) * 1000000)::bigint)
FROM ganger.server WHERE seen_at >= clock_timestamp() - $1::bigint * interval '1 microsecond' ORDER BY name;
