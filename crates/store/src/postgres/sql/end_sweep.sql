-- The sweep has come to the end.
DELETE FROM ganger.sweep;
