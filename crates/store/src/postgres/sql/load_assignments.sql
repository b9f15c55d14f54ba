-- Assignments with a lease that has not ended: others have no row.
SELECT first_fence, session, at, leases FROM ganger.assignment;
