-- Parents of blocked jobs that are not live, and of whose end their edges do not know, for a leader that begins.
SELECT DISTINCT e.parent,
       coalesce((SELECT h.state FROM ganger.job_history h WHERE h.id = e.parent LIMIT 1),
                (SELECT d.state FROM ganger.job_dead d WHERE d.id = e.parent))
FROM ganger.edge e
WHERE e.child = ANY ($1) AND e.ended IS NULL AND NOT EXISTS (SELECT 1 FROM ganger.job p WHERE p.id = e.parent);
