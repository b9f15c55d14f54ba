-- The largest id of any job: one that is larger is new.
SELECT max(id::text) FROM (
    (SELECT id FROM ganger.job ORDER BY id DESC LIMIT 1)
    UNION ALL (SELECT id FROM ganger.job_history ORDER BY id DESC LIMIT 1)
    UNION ALL (SELECT id FROM ganger.job_dead ORDER BY id DESC LIMIT 1)
) AS largest;
