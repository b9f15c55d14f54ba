-- How long jobs took from intake to their end, packed as the other counts are. Of minutes before this nothing is known.
ALTER TABLE minute ADD COLUMN total BLOB NOT NULL DEFAULT x'';
