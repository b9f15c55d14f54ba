-- Attempts that are about to do what cannot be repeated, so that the next leader knows. They are few, and short-lived.
CREATE TABLE ganger.effect_mark (
    job   uuid  PRIMARY KEY,
    fence bytea NOT NULL
) WITH (fillfactor = 50);
