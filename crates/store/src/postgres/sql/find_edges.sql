-- The parents of blocked jobs, for a leader that begins.
SELECT child, parent, on_dead, ended FROM ganger.edge WHERE child = ANY ($1);
