-- A parent has ended so. Who waits for its success goes on waiting if it had none; what was settled before stays as it is.
UPDATE edge SET ended = ?2 WHERE parent = ?1 AND ended IS NULL AND (on_dead <> 2 OR ?2 = 0);
