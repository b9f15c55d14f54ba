-- Forgets keys that are open again since.
DELETE FROM ganger.closed_key WHERE until <= $1;
