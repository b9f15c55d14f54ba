-- The leader of this term leads no more, and nothing more is written in it.
UPDATE ganger.leader SET resigned = true WHERE term = $1 AND term_id = $2 AND NOT resigned RETURNING 1;
