-- Forgets the parents of a job that is gone.
DELETE FROM edge WHERE child = ?1;
