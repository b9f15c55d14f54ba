-- Adds what a batch counts for to the buckets of its minute. The arrays come as text, for those of one column are not of one
-- length.
INSERT INTO ganger.minute AS m (minute, queue, kind, numbers, wait, run, total)
SELECT $1::bigint, queue, kind, numbers::bigint[], wait::bigint[], run::bigint[], total::bigint[]
FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
    AS counted(queue, kind, numbers, wait, run, total)
ON CONFLICT (minute, queue, kind) DO UPDATE
SET numbers = ganger.add_each(m.numbers, excluded.numbers),
    wait = ganger.add_each(m.wait, excluded.wait),
    run = ganger.add_each(m.run, excluded.run),
    total = ganger.add_each(m.total, excluded.total);
