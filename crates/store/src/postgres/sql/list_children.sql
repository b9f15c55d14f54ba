-- The children of a job, from an id on.
SELECT child, parent, on_dead, ended FROM ganger.edge
WHERE parent = $1 AND ($2::uuid IS NULL OR child > $2) ORDER BY child LIMIT $3;
