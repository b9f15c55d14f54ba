-- The mark of this lease is over; that of another one stays.
DELETE FROM effect_mark WHERE job = ?1 AND fence = ?2;
