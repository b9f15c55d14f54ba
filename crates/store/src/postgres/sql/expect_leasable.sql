-- Each of these jobs is live and has ended no lease as late as the earliest of those that they are given: fences only
-- grow, so comparing with that one is enough, and a list of ids is found faster than rows are joined.
SELECT ganger.expect(count(*), $3)
FROM ganger.job
WHERE id = ANY ($1::uuid[]) AND (last_fence IS NULL OR last_fence < $2::bytea);
