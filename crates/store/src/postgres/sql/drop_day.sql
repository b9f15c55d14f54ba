-- Drops the table of a day, unless somebody uses it, and tells what was in it.
SELECT queue, kind, state, count FROM ganger.drop_day($1);
