-- Looks at what was kept beside the next so many jobs, and forgets it where there is no such job any more. Tells how far
-- it has come; nowhere if there is nothing left to look at. One lookup per job: as a join, a plan for any limit would read
-- whole tables.
WITH next AS (
    SELECT id FROM (
        (SELECT job AS id FROM ganger.payload WHERE job > $1 ORDER BY job LIMIT $2)
        UNION (SELECT job FROM ganger.attempt WHERE job > $1 ORDER BY job LIMIT $2)
        UNION (SELECT job FROM ganger.log WHERE job > $1 ORDER BY job LIMIT $2)
        UNION (SELECT child FROM ganger.edge WHERE child > $1 ORDER BY child LIMIT $2)
    ) AS traces ORDER BY id LIMIT $2
), gone AS (
    SELECT id FROM next n
    WHERE (SELECT 1 FROM ganger.job j WHERE j.id = n.id LIMIT 1) IS NULL
      AND (SELECT 1 FROM ganger.job_history h WHERE h.id = n.id LIMIT 1) IS NULL
      AND (SELECT 1 FROM ganger.job_dead d WHERE d.id = n.id LIMIT 1) IS NULL
), attempts AS (
    DELETE FROM ganger.attempt a USING gone g WHERE a.job = g.id
), logs AS (
    DELETE FROM ganger.log l USING gone g WHERE l.job = g.id
), payloads AS (
    DELETE FROM ganger.payload p USING gone g WHERE p.job = g.id
), edges AS (
    DELETE FROM ganger.edge e USING gone g WHERE e.child = g.id
)
SELECT id FROM next ORDER BY id DESC LIMIT 1;
