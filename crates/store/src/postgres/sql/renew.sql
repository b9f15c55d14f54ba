-- The leader of this term is still there.
UPDATE ganger.leader SET renewed_at = clock_timestamp() WHERE term = $1 AND term_id = $2 AND NOT resigned RETURNING 1;
