-- Leases given to one session in one pass: one row for any number of jobs.
INSERT INTO assignment (first_fence, session, at, leases) VALUES (?1, ?2, ?3, ?4);
