-- Nothing is known of minutes.
DROP TABLE minute;
