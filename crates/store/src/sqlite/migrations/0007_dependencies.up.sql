-- Jobs and their parents. `on_dead` is 0 for cancel, 1 for run, 2 for wait. `ended` tells how the parent ended, once that
-- has settled the edge. A row goes away with its child.
CREATE TABLE edge (
    child   BLOB    NOT NULL,
    parent  BLOB    NOT NULL,
    on_dead INTEGER NOT NULL CONSTRAINT on_dead_is_cancel_run_or_wait CHECK (on_dead BETWEEN 0 AND 2),
    ended   INTEGER CONSTRAINT an_edge_is_settled_by_a_final_state CHECK (ended BETWEEN 0 AND 2),
    PRIMARY KEY (child, parent)
) STRICT, WITHOUT ROWID;

CREATE INDEX edge_by_parent ON edge (parent, child);
