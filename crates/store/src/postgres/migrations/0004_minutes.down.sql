-- Nothing is known of minutes.
DROP TABLE ganger.minute;
DROP FUNCTION ganger.add_each(bigint[], bigint[]);
