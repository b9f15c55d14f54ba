-- Each of these jobs is live and has ended no lease as late as the one that it is given.
SELECT ganger.expect(count(*), $3)
FROM unnest($1::uuid[], $2::bytea[]) AS l (id, fence)
JOIN ganger.job j ON j.id = l.id
WHERE j.last_fence IS NULL OR j.last_fence < l.fence;
