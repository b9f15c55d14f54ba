-- A waiting job becomes due; never later than it was.
UPDATE job SET due_at = min(due_at, ?2) WHERE id = ?1;
