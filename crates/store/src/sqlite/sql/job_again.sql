-- An attempt ended and its job stays live.
UPDATE job SET due_at = ?2, retrying = ?3, attempt = ?4, burnt = ?5, lost = ?6, last_fence = ?7 WHERE id = ?1;
