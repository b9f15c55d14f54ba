-- Assignments that name a job, whether or not that lease has ended. The bytes of an id may also appear across two
-- leases by accident; the reader compares whole ids.
SELECT first_fence, session, at, leases FROM ganger.assignment WHERE position($1 IN leases) > 0;
