-- Nothing is known of total times.
ALTER TABLE ganger.minute DROP COLUMN total;
