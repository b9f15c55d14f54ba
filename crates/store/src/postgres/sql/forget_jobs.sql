-- Jobs that end and are not to be kept, with everything beside their rows. A unique key is held as if they were
-- kept. All rows of a table are found at once, by the list of ids, which is cheaper than one by one; if one of the jobs is not
-- live, none of this happens. The full join is for the planner, as in end_jobs.
WITH gone AS (
    DELETE FROM ganger.job WHERE id = ANY ($1::uuid[])
    RETURNING id, kind, unique_key, unique_for
), ended AS MATERIALIZED (
    SELECT g.kind, g.unique_key, g.unique_for, e.holds, e.finished_at
    FROM gone g FULL JOIN unnest($1::uuid[], $2::boolean[], $3::bigint[]) AS e (id, holds, finished_at) ON e.id = g.id
    WHERE coalesce(e.id = g.id, false)
), held AS (
    UPDATE ganger.unique_key u SET until = n.finished_at + n.unique_for
    FROM ended n
    WHERE n.unique_key IS NOT NULL AND n.holds AND n.unique_for IS NOT NULL
      AND u.kind = n.kind AND u.key = n.unique_key
), freed AS (
    DELETE FROM ganger.unique_key u USING ended n
    WHERE n.unique_key IS NOT NULL AND NOT (n.holds AND n.unique_for IS NOT NULL)
      AND u.kind = n.kind AND u.key = n.unique_key
), attempts AS (
    DELETE FROM ganger.attempt WHERE job = ANY ($1::uuid[])
), logs AS (
    DELETE FROM ganger.log WHERE job = ANY ($1::uuid[])
), payloads AS (
    DELETE FROM ganger.payload WHERE job = ANY ($1::uuid[])
), edges AS (
    DELETE FROM ganger.edge WHERE child = ANY ($1::uuid[])
)
SELECT ganger.expect(count(*), $4) FROM gone;
