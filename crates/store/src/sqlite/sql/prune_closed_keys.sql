-- Forgets keys that are open again since.
DELETE FROM closed_key WHERE until <= ?1;
