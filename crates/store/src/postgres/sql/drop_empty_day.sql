-- Drops the table of a day, unless somebody uses it or there is something in it.
SELECT ganger.drop_empty_day($1);
