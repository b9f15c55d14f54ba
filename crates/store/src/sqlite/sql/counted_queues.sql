-- Queues that have final jobs of a state: where retention has something to look at.
SELECT DISTINCT queue FROM counter WHERE state = ?1 AND count > 0;
