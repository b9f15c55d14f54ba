-- The parents of a job, from an id on.
SELECT child, parent, on_dead, ended FROM ganger.edge
WHERE child = $1 AND ($2::uuid IS NULL OR parent > $2) ORDER BY parent LIMIT $3;
