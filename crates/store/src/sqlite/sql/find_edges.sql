-- The parents of a blocked job, for a leader that begins.
SELECT child, parent, on_dead, ended FROM edge WHERE child = ?1;
