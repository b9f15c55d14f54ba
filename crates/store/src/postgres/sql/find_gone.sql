-- Those of these jobs that are not live, and how they ended; nothing where they are not kept.
SELECT s.id,
       coalesce((SELECT h.state FROM ganger.job_history h WHERE h.id = s.id LIMIT 1),
                (SELECT d.state FROM ganger.job_dead d WHERE d.id = s.id))
FROM unnest($1::uuid[]) AS s (id)
WHERE NOT EXISTS (SELECT 1 FROM ganger.job j WHERE j.id = s.id);
