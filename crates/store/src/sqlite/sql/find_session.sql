-- A session ever opened; without a record once closed.
SELECT record FROM session WHERE id = ?1;
