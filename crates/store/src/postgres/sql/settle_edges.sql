-- Parents have ended so. Who waits for the success of one goes on waiting if it had none; what was settled before stays as it
-- is.
UPDATE ganger.edge e SET ended = s.state
FROM unnest($1::uuid[], $2::smallint[]) AS s (parent, state)
WHERE e.parent = s.parent AND e.ended IS NULL AND (e.on_dead <> 2 OR s.state = 0);
