-- Servers that live, or did a while ago.
SELECT name, address, version, started_at,
       greatest(0, (extract(epoch FROM clock_timestamp() - seen_at) * 1000000)::bigint)
FROM ganger.server ORDER BY name;
