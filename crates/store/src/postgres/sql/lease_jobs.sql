-- Writes the leases of jobs that their handlers may end on the jobs themselves.
UPDATE ganger.job j SET lease_fence = l.fence, lease_session = l.session, lease_attempt = l.attempt
FROM unnest($1::uuid[], $2::bytea[], $3::uuid[], $4::bytea[]) AS l (id, fence, session, attempt)
WHERE j.id = l.id;
