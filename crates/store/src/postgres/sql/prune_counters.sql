-- Forgets the counters of days long over that have come to nothing.
DELETE FROM ganger.counter WHERE count = 0 AND day < $1;
