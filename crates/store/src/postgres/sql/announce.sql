-- A server lives; those not heard of for too long are forgotten.
WITH gone AS (
    DELETE FROM ganger.server WHERE seen_at < clock_timestamp() - $5::bigint * interval '1 microsecond' AND name <> $1
)
INSERT INTO ganger.server (name, address, version, started_at, seen_at) VALUES ($1, $2, $3, $4, clock_timestamp())
ON CONFLICT (name) DO UPDATE
SET address = excluded.address, version = excluded.version, started_at = excluded.started_at, seen_at = excluded.seen_at;
