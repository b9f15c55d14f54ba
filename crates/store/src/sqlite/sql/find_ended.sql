-- Parents of a blocked job that are not live, and of whose end its edges do not know, for a leader that begins.
SELECT e.parent, f.state
FROM edge e LEFT JOIN job_final f ON f.id = e.parent
WHERE e.child = ?1 AND e.ended IS NULL AND NOT EXISTS (SELECT 1 FROM job p WHERE p.id = e.parent);
