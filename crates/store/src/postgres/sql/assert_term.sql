-- The guard of a transaction that is no batch.
SELECT ganger.assert_term($1, $2);
