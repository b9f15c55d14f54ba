-- Those of these live jobs, newest first, from an id on: jobs that hold a lease, or did.
SELECT id, coalesce(($3::text IS NULL OR queue = $3) AND ($4::text IS NULL OR kind = $4)
                AND ($5::text IS NULL OR unique_key = $5)
                AND ($6::text IS NULL OR position($6 IN tags) > 0)
                AND ($7::bigint IS NULL OR created_at >= $7) AND ($8::bigint IS NULL OR created_at < $8), false),
       due_at, retrying, last_fence
FROM ganger.job WHERE id = ANY ($9) AND id < $1 ORDER BY id DESC LIMIT $2;
