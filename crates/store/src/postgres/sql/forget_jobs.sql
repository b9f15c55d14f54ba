-- Jobs that end and are not to be kept, with everything beside their rows. A unique key is held as if they were
-- kept.
WITH gone AS (
    DELETE FROM ganger.job j USING unnest($1::uuid[], $2::boolean[], $3::bigint[]) AS e (id, holds, finished_at)
    WHERE j.id = e.id
    RETURNING j.id, j.kind, j.unique_key, j.unique_for, e.holds, e.finished_at
), held AS (
    UPDATE ganger.unique_key u SET until = g.finished_at + g.unique_for
    FROM gone g
    WHERE g.unique_key IS NOT NULL AND g.holds AND g.unique_for IS NOT NULL
      AND u.kind = g.kind AND u.key = g.unique_key
), freed AS (
    DELETE FROM ganger.unique_key u USING gone g
    WHERE g.unique_key IS NOT NULL AND NOT (g.holds AND g.unique_for IS NOT NULL)
      AND u.kind = g.kind AND u.key = g.unique_key
), attempts AS (
    DELETE FROM ganger.attempt a USING gone g WHERE a.job = g.id
), logs AS (
    DELETE FROM ganger.log l USING gone g WHERE l.job = g.id
), payloads AS (
    DELETE FROM ganger.payload p USING gone g WHERE p.job = g.id
), edges AS (
    DELETE FROM ganger.edge e USING gone g WHERE e.child = g.id
)
SELECT ganger.expect(count(*), $4) FROM gone;
