-- The children of a job, from an id on.
SELECT child, parent, on_dead, ended FROM edge WHERE parent = ?1 AND child > ?2 ORDER BY child LIMIT ?3;
