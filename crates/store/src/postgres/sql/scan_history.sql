-- Succeeded and cancelled jobs, newest first, from an id on, and whether each meets the filters.
SELECT id, coalesce(($3::text IS NULL OR queue = $3) AND ($4::text IS NULL OR kind = $4)
                AND ($5::text IS NULL OR unique_key = $5)
                AND ($6::text IS NULL OR position($6 IN tags) > 0)
                AND ($7::bigint IS NULL OR created_at >= $7) AND ($8::bigint IS NULL OR created_at < $8), false),
       state
FROM ganger.job_history WHERE id < $1 ORDER BY id DESC LIMIT $2;
