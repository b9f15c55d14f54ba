-- How long jobs took from intake to their end: the sum, and then the histogram without the zeros at its end. Of minutes before this
-- nothing is known.
ALTER TABLE ganger.minute ADD COLUMN total bigint[] NOT NULL DEFAULT '{}';
