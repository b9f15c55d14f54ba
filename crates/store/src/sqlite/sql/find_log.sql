-- What an attempt logged.
SELECT text FROM log WHERE job = ?1 AND attempt = ?2;
