-- Nothing is known of total times.
ALTER TABLE minute DROP COLUMN total;
