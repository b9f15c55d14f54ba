-- As expect_leasable, and their payloads, but for those that are too large for their rows. Joined from the side of the check: it is made also
-- where no row is found.
WITH leasable AS MATERIALIZED (
    SELECT id, payload FROM ganger.job
    WHERE id = ANY ($1::uuid[]) AND (last_fence IS NULL OR last_fence < $2::bytea)
), checked AS MATERIALIZED (
    SELECT ganger.expect(count(*), $3) FROM leasable
)
SELECT found.id, found.payload FROM checked LEFT JOIN leasable AS found ON found.payload IS NOT NULL;
