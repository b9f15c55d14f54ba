-- The marks of these leases are over; those of others stay. Without a fence, whatever mark the job has.
DELETE FROM ganger.effect_mark m USING unnest($1::uuid[], $2::bytea[]) AS over (job, fence)
WHERE m.job = over.job AND (over.fence IS NULL OR m.fence = over.fence);
