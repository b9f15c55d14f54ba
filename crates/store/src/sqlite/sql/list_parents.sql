-- The parents of a job, from an id on.
SELECT child, parent, on_dead, ended FROM edge WHERE child = ?1 AND parent > ?2 ORDER BY parent LIMIT ?3;
