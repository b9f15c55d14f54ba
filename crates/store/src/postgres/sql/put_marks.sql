-- The attempts of jobs under these leases must not be repeated. A later lease takes the place of an earlier one.
INSERT INTO ganger.effect_mark (job, fence) SELECT * FROM unnest($1::uuid[], $2::bytea[])
ON CONFLICT (job) DO UPDATE SET fence = excluded.fence;
