-- The sweep has come so far.
UPDATE ganger.sweep SET beyond = $1;
