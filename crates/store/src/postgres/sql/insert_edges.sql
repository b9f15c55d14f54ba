-- Jobs wait for others.
INSERT INTO ganger.edge (child, parent, on_dead, ended)
SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::smallint[], $4::smallint[]);
