-- What happened in each minute, by queue and kind: numbers in the order of `Counts::numbers`, and two histograms without the
-- zeros at their ends. The rows of the present minute change with every batch.
CREATE TABLE ganger.minute (
    minute  bigint   NOT NULL,
    queue   text     COLLATE "C" NOT NULL,
    kind    text     COLLATE "C" NOT NULL,
    numbers bigint[] NOT NULL,
    wait    bigint[] NOT NULL,
    run     bigint[] NOT NULL,
    PRIMARY KEY (minute, queue, kind)
) WITH (fillfactor = 50);

-- Adds two arrays, of which one may be shorter.
CREATE FUNCTION ganger.add_each(a bigint[], b bigint[]) RETURNS bigint[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT coalesce(array_agg(coalesce(x, 0) + coalesce(y, 0) ORDER BY n), '{}')
    FROM unnest(a, b) WITH ORDINALITY AS both_of(x, y, n)
$$;
