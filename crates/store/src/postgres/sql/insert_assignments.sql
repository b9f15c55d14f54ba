-- Leases given to sessions in one pass: one row for any number of jobs.
INSERT INTO ganger.assignment (first_fence, session, at, leases)
SELECT * FROM unnest($1::bytea[], $2::uuid[], $3::bigint[], $4::bytea[]);
