-- Jobs and their parents. `on_dead` is 0 for cancel, 1 for run, 2 for wait. `ended` tells how the parent ended, once that
-- has settled the edge. A row goes away with its child.
CREATE TABLE ganger.edge (
    child   uuid     NOT NULL,
    parent  uuid     NOT NULL,
    on_dead smallint NOT NULL CONSTRAINT on_dead_is_cancel_run_or_wait CHECK (on_dead BETWEEN 0 AND 2),
    ended   smallint CONSTRAINT an_edge_is_settled_by_a_final_state CHECK (ended BETWEEN 0 AND 2),
    PRIMARY KEY (child, parent)
);

CREATE INDEX edge_by_parent ON ganger.edge (parent, child);

-- A job that its handler ended has succeeded. The leader learns of it late, and its row may not be kept so long.
CREATE FUNCTION ganger.settle_completed() RETURNS trigger LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    UPDATE ganger.edge SET ended = 0 WHERE parent = NEW.job AND ended IS NULL;
    RETURN NULL;
END $$;

CREATE TRIGGER completed_settles_its_edges AFTER INSERT ON ganger.completed
FOR EACH ROW EXECUTE FUNCTION ganger.settle_completed();

REVOKE ALL ON FUNCTION ganger.settle_completed() FROM PUBLIC;
