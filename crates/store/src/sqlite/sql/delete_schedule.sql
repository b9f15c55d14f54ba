-- Forgets a schedule.
DELETE FROM schedule WHERE id = ?1;
